#pragma once

#include <algorithm>
#include <utility>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse {
namespace detail {

using namespace tilewright::ir;

/// Makes blocks of one iteration.
class iteration_lowerer {
 public:
  iteration_lowerer(const sparse_function& f, const sparse_iteration& it)
      : function_(f), it_(it), index_(it.iters.front().var.type()) {}

  stmt run() {
    check_axes();
    const auto variable = std::find_if(it_.iters.begin(), it_.iters.end(),
                                       [](const sparse_iter& i) { return i.axis->variable(); });
    const auto split = variable == it_.iters.end() ? it_.iters.begin() : it_.iters.begin() + 1;
    const stmt inner = nest(it_.name, split, it_.iters.end(), leaf());
    if (split == it_.iters.begin()) return inner;
    block_node around;
    around.body = inner;
    return nest(it_.name + "_o", it_.iters.begin(), split, std::move(around));
  }

 private:
  using iterator = std::vector<sparse_iter>::const_iterator;

  [[noreturn]] void refuse(int requirement, const std::string& what) const {
    throw argument_error("lower: iteration \"" + it_.name + "\" " + what + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  void check_axes() const {
    int variable = 0;
    for (const sparse_iter& i : it_.iters) {
      if (!i.axis->variable()) continue;
      const sparse_iter& first = it_.iters.front();
      if (++variable > 1) refuse(1, "has two axes of variable extent");
      if (!(i.axis->parent == first.axis) || first.kind != iter_kind::spatial)
        refuse(1, "does not begin with the parent of axis \"" + i.axis->name + "\", as spatial");
    }
  }

  /// The variable of an axis; null when the iteration has none.
  expr position_of(const sparse_axis& axis) const {
    for (const sparse_iter& i : it_.iters)
      if (i.axis == axis) return i.var;
    return {};
  }

  /// Positions along the axes, where the iteration has them all.
  std::vector<expr> positions_of(const std::vector<sparse_axis>& axes) const {
    std::vector<expr> out;
    for (const sparse_axis& axis : axes) {
      out.push_back(position_of(axis));
      if (!out.back()) refuse(1, "has no axis \"" + axis->name + "\"");
    }
    return out;
  }

  expr address(const sparse_axis& axis) const {
    const std::vector<sparse_axis> chain = ancestry(axis);
    return storage_index(chain, positions_of(chain), index_);
  }

  expr extent_of(const sparse_axis& axis) const {
    return fibre_extent(*axis, axis->parent ? address(axis->parent) : expr{}, index_);
  }

  /// The coordinate that a variable of the iteration stands for.
  expr coordinate_of(const sparse_iter& i) const {
    if (!i.axis->sparse()) return i.var;
    return cast(index_, load(i.axis->indices, {address(i.axis)}));
  }

  /// Accesses by coordinates as accesses of storage, variables as positions.
  class to_positions : public mutator {
   public:
    explicit to_positions(const iteration_lowerer& of) : of_(of) {}
    using mutator::mutate;
    expr mutate(const expr& e) override {
      if (e->op == op::load)
        if (const sparse_buffer* s = of_.function_.find(e->buffer)) return of_.stored(*s, e->args);
      if (e->op == op::var)
        for (const sparse_iter& i : of_.it_.iters)
          if (i.var.same(e)) return of_.coordinate_of(i);
      return mutator::mutate(e);
    }
    stmt mutate(const stmt& s) override {
      const store_node* store = as_store(s);
      if (store && of_.function_.find(store->buffer))
        of_.refuse(2, "writes the sparse buffer \"" + store->buffer->name + "\"");
      return mutator::mutate(s);
    }

   private:
    const iteration_lowerer& of_;
  };

  expr stored(const sparse_buffer& s, const std::vector<expr>& at) const {
    for (std::size_t d = 0; d < at.size(); ++d) {
      const expr own = position_of(s.axes[d]);
      if (!own || !at[d].same(own))
        refuse(2,
               "reads \"" + s.coordinates->name + "\" elsewhere than at the variables of its axes");
    }
    return load(s.storage, {storage_index(s.axes, at, index_)});
  }

  /// What nothing changes when the value is combined with it.
  static expr identity(op o, dtype type) {
    switch (o) {
      case op::add: return literal(type, 0);
      case op::mul: return literal(type, 1);
      case op::max: return lowest_value(type);
      case op::min: return highest_value(type);
      default: return {};
    }
  }

  /// The body where the variable axis is visited once more than it has elements, perhaps.
  stmt guarded(const stmt& body, const expr& inside) const {
    const store_node* store = as_store(body);
    const expr value = store ? store->value : expr{};
    const expr neutral = value ? identity(value->op, value.type()) : expr{};
    const bool reduces =
        neutral && value->args[0]->op == op::load && value->args[0]->buffer == store->buffer;
    if (!reduces) refuse(3, "does not combine its result with one value");
    return make_store(
        store->buffer, store->indices,
        with_args(value, {value->args[0], if_then_else(inside, value->args[1], neutral)}));
  }

  block_node leaf() const {
    to_positions change(*this);
    block_node out;
    out.annotations = it_.annotations;
    if (it_.init) out.init = change.mutate(it_.init);
    out.body = change.mutate(it_.body);
    for (const sparse_iter& i : it_.iters)
      if (i.axis->variable() && i.kind == iter_kind::reduce)
        out.body = guarded(out.body, lt(i.var, extent_of(i.axis)));
    return out;
  }

  /// Loops over some of the axes around a block.
  stmt nest(const std::string& name, iterator begin, iterator end, block_node block) const {
    const expr zero = integer(index_, 0);
    std::vector<expr> values;
    std::vector<var> loops;
    std::vector<expr> extents;
    for (iterator i = begin; i != end; ++i) {
      expr extent = extent_of(i->axis);
      if (i->axis->variable() && i->kind == iter_kind::reduce)
        extent = max(extent, integer(index_, 1));
      block.iters.push_back({i->var, {zero, extent}, i->kind});
      const std::string& v = i->var->name;
      loops.push_back(make_var(v.size() > 1 && v[0] == 'v' ? v.substr(1) : v, index_));
      values.push_back(loops.back());
      extents.push_back(std::move(extent));
    }
    block.name = name;
    ir::detail::infer_regions(block, true, true);
    stmt out = make_realize(values, boolean(true), make_block(std::move(block)));
    for (std::size_t k = loops.size(); k-- > 0;) out = make_loop(loops[k], zero, extents[k], out);
    return out;
  }

  const sparse_function& function_;
  const sparse_iteration& it_;
  dtype index_;
};

/// Coordinates that are listed along the axis, or along one below it; "" when all are counted.
inline std::string indices_below(const sparse_function& f, const sparse_axis& axis) {
  for (const sparse_axis& below : f.axes) {
    const std::vector<sparse_axis> above = ancestry(below);
    if (below->indices && std::find(above.begin(), above.end(), axis) != above.end())
      return below->indices->name;
  }
  return {};
}

inline attr offsets_of(const sparse_function& f) {
  attr::dict out;
  for (const sparse_axis& axis : f.axes)
    if (axis->variable() && is_int(axis->nnz))
      out[axis->indptr->name] = attr::list{attr(indices_below(f, axis)), attr(as_int(axis->nnz))};
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE ir::function lower(const ir::sparse_function& f) {
  ir::function out;
  out.name = f.name;
  out.params = f.params;
  out.attrs = f.attrs;
  ir::attr offsets = detail::offsets_of(f);
  if (!std::get<ir::attr::dict>(offsets.value).empty())
    out.attrs[ir::offsets_attribute] = std::move(offsets);
  std::vector<ir::stmt> body;
  for (const auto& part : f.body) {
    if (const ir::stmt* dense = std::get_if<ir::stmt>(&part))
      body.push_back(*dense);
    else
      body.push_back(detail::iteration_lowerer(f, std::get<ir::sparse_iteration>(part)).run());
  }
  out.body = ir::make_root(ir::make_seq(std::move(body)), f.alloc_buffers);
  return out;
}

}  // namespace tilewright::sparse
