#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/impl/sparse/co_iteration.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse {
namespace detail {

using namespace tilewright::ir;

/// A buffer that is kept one row at a time, inside of the block of rows.
struct row_buffer {
  buffer whole;           // as expressions know it
  buffer row;             // without the dimension of rows
  std::size_t dimension;  // that one
};

/// The extents of the other axes depend on the position along the first one.
inline bool ragged(const std::vector<sparse_iter>& iters) {
  return support::any(iters, [](const sparse_iter& i) { return i.axis->variable(); });
}
inline bool ragged(const sparse_function& f, const sparse_iteration& it) {
  return ragged(co_iteration(f, it).outer());
}

/// Makes blocks of one iteration.
class iteration_lowerer {
 public:
  /// @param rows buffers of one row at a time, instead of those that expressions know
  iteration_lowerer(const sparse_function& f, const sparse_iteration& it,
                    const std::vector<row_buffer>& rows)
      : function_(f), it_(it), rows_(rows), index_(it.iters.front().var.type()) {
    check_axes();
    const co_iteration divided(f, it);
    patterns_meet_ = divided.needed();
    loops_ = divided.outer();
  }

  /// Everything, or what is inside of the block of rows.
  stmt inner() const {
    const std::vector<std::ptrdiff_t> ends = rows_around();
    stmt out = nest(it_.name, loops_.begin() + ends.back(), loops_.end(), leaf());
    for (std::size_t level = ends.size(); level-- > 1;) {
      block_node fibre;
      fibre.body = out;
      out = nest(it_.name + "_o" + std::to_string(level), loops_.begin() + ends[level - 1],
                 loops_.begin() + ends[level], std::move(fibre));
    }
    return out;
  }

  /// The block of rows around that, which allocates what is as long as a row.
  stmt around(const stmt& inside) const {
    block_node rows;
    rows.body = inside;
    for (const row_buffer& b : rows_) rows.alloc_buffers.push_back(b.row);
    return nest(it_.name + "_o", loops_.begin(), loops_.begin() + rows_around().front(),
                std::move(rows));
  }

 private:
  using iterator = std::vector<sparse_iter>::const_iterator;

  [[noreturn]] void refuse(int requirement, const std::string& what) const {
    throw argument_error("lower: iteration \"" + it_.name + "\" " + what + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  void check_axes() const {
    sparse_axis last;
    for (const sparse_iter& i : it_.iters) {
      if (!i.axis->variable()) continue;
      const std::vector<sparse_axis> above = ancestry(i.axis->parent);
      if (last && support::none(above, [&](const sparse_axis& a) { return a == last; }))
        refuse(1, "has two axes of variable extent, neither of which is below the other");
      last = i.axis;
      for (std::size_t k = 0; k < above.size(); ++k)
        if (!(it_.iters[k].axis == above[k]) ||
            (it_.init && it_.iters[k].kind != iter_kind::spatial))
          refuse(1, "does not begin with the parent of axis \"" + i.axis->name + "\", as spatial");
    }
  }

  /// Numbers of axes on which the extents of the others depend: those above each variable one.
  std::vector<std::ptrdiff_t> rows_around() const {
    std::vector<std::ptrdiff_t> out;
    for (const sparse_iter& i : loops_)
      if (i.axis->variable())
        out.push_back(static_cast<std::ptrdiff_t>(ancestry(i.axis->parent).size()));
    if (out.empty()) out.push_back(0);
    return out;
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
      if (e->op == op::load && of_.is_moved(e->buffer)) {
        const auto [to, at] = of_.moved(e->buffer, e->args, "reads");
        return load(to, at);
      }
      if (e->op == op::var)
        for (const sparse_iter& i : of_.it_.iters)
          if (i.var.same(e)) return of_.coordinate_of(i);
      return mutator::mutate(e);
    }
    stmt mutate(const stmt& s) override {
      const store_node* store = as_store(s);
      if (!store || !of_.is_moved(store->buffer)) return mutator::mutate(s);
      const auto [to, at] = of_.moved(store->buffer, store->indices, "writes");
      return make_store(to, at, mutate(store->value));
    }

   private:
    const iteration_lowerer& of_;
  };

  const row_buffer* row_of(const buffer& b) const {
    for (const row_buffer& r : rows_)
      if (r.whole == b) return &r;
    return nullptr;
  }
  bool is_moved(const buffer& b) const { return function_.find(b) || row_of(b); }

  /// Where an element of a sparse buffer, or of one that is kept a row at a time, lies.
  std::pair<buffer, std::vector<expr>> moved(const buffer& b, std::vector<expr> at,
                                             const std::string& does) const {
    const sparse_buffer* s = function_.find(b);
    const std::size_t stored = s ? stored_rank(*s) : 0;
    for (std::size_t d = 0; d < stored; ++d) {
      const expr own = position_of(s->axes[d]);
      if (!own || !at[d].same(own))
        refuse(2, does + " \"" + b->name + "\" elsewhere than at the variables of its axes");
    }
    if (const row_buffer* r = row_of(b)) {
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(r->dimension));
      if (at.empty()) at.push_back(integer(index_, 0));
      for (std::size_t d = stored > 0 ? stored - 1 : 0; d < at.size(); ++d)
        at[d] = to_positions(*this).mutate(at[d]);
      return {r->row, std::move(at)};
    }
    for (std::size_t d = stored; d < at.size(); ++d) at[d] = to_positions(*this).mutate(at[d]);
    return {s->storage, place_in_storage(*s, at, index_)};
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

  /// A row without elements is visited, so that its result is initialized; one that is added to a result
  /// is not.
  bool visited_once_more(const sparse_iter& i) const {
    return it_.init && i.axis->variable() && i.kind == iter_kind::reduce;
  }

  block_node leaf() const {
    to_positions change(*this);
    if (patterns_meet_) {
      block_node met =
          co_iteration(function_, it_).block([&](const sparse_axis& a) { return extent_of(a); });
      met.body = change.mutate(met.body);
      return met;
    }
    block_node out;
    out.annotations = it_.annotations;
    if (it_.init) out.init = change.mutate(it_.init);
    out.body = change.mutate(it_.body);
    for (const sparse_iter& i : it_.iters)
      if (visited_once_more(i)) out.body = guarded(out.body, lt(i.var, extent_of(i.axis)));
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
      if (visited_once_more(*i)) extent = max(extent, integer(index_, 1));
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
  const std::vector<row_buffer>& rows_;
  dtype index_;
  bool patterns_meet_ = false;
  std::vector<sparse_iter> loops_;  // around the block
};

/// Iterations that follow each other over the rows of one pattern, each of which reads on that
/// pattern what an earlier one wrote: one block of rows holds the nests of all.
class row_group {
 public:
  explicit row_group(const sparse_function& f) : f_(f) {}

  bool empty() const { return members_.empty(); }

  /// Whether the iteration continues the group: a row of what it reads is there when the others have
  /// done that row.
  bool takes(const sparse_iteration& it) const {
    if (members_.empty()) return true;
    if (!ragged(f_, it) || !ragged(f_, members_.front())) return false;
    const sparse_iter &own = it.iters.front(), &first = members_.front().iters.front();
    if (!(own.axis == first.axis) || own.kind != iter_kind::spatial) return false;
    std::vector<sparse_iteration> all = members_;
    all.push_back(it);
    bool follows = false, by_rows = true;
    for_each_access(it, [&](const buffer& b, const std::vector<expr>&) {
      if (!written(members_, b) && !written({it}, b)) return;
      follows = follows || (f_.find(b) && written(members_, b));
      by_rows = by_rows && (!accessed(members_, b) || row_dimension(all, b));
    });
    for (const sparse_iteration& member : members_)
      for_each_access(member, [&](const buffer& b, const std::vector<expr>&) {
        if (written({it}, b)) by_rows = by_rows && row_dimension(all, b);
      });
    return follows && by_rows;
  }

  void add(const sparse_iteration& it) { members_.push_back(it); }

  /// The nests of the group; what nothing else reads is taken from `allocated` and kept a row at a time.
  stmt lower(std::vector<buffer>& allocated) {
    std::vector<row_buffer> rows;
    if (members_.size() > 1) rows = take_rows(allocated);
    const iteration_lowerer first(f_, members_.front(), rows);
    std::vector<stmt> nests;
    const expr row = members_.front().iters.front().var;
    for (const sparse_iteration& member : members_) {
      sparse_iteration same_row = member;
      const var_map to_first{{member.iters.front().var, row}};
      same_row.iters.front().var = members_.front().iters.front().var;
      if (same_row.init) same_row.init = substitute(same_row.init, to_first);
      same_row.body = substitute(same_row.body, to_first);
      nests.push_back(iteration_lowerer(f_, same_row, rows).inner());
    }
    const stmt out =
        ragged(f_, members_.front()) ? first.around(make_seq(std::move(nests))) : nests.front();
    members_.clear();
    return out;
  }

 private:
  template <class Visit>
  static void for_each_access(const sparse_iteration& it, const Visit& visit) {
    for (const stmt& part : {it.init, it.body}) {
      if (!part) continue;
      for_each_expr(part, [&](const expr& e) {
        if (e->op == op::load) visit(e->buffer, e->args);
      });
      for_each_stmt(part, [&](const stmt& s) {
        if (const store_node* store = as_store(s)) visit(store->buffer, store->indices);
      });
    }
  }

  static bool written(const std::vector<sparse_iteration>& by, const buffer& b) {
    bool out = false;
    for (const sparse_iteration& it : by)
      for_each_stmt(it.body,
                    [&](const stmt& s) { out = out || (as_store(s) && as_store(s)->buffer == b); });
    return out;
  }
  static bool accessed(const std::vector<sparse_iteration>& by, const buffer& b) {
    bool out = false;
    for (const sparse_iteration& it : by)
      for_each_access(it, [&](const buffer& a, const std::vector<expr>&) { out = out || a == b; });
    return out;
  }

  /// The dimension of `b` at which each access of these has the row; nothing where there is none.
  static std::optional<std::size_t> row_dimension(const std::vector<sparse_iteration>& all,
                                                  const buffer& b) {
    for (std::size_t d = 0; d < b->shape.size(); ++d) {
      bool rows = true;
      for (const sparse_iteration& it : all)
        for_each_access(it, [&](const buffer& a, const std::vector<expr>& at) {
          rows = rows && (!(a == b) || at[d].same(it.iters.front().var));
        });
      if (rows) return d;
    }
    return std::nullopt;
  }

  /// A row is as long as there are columns at most; beyond this it stays where it is.
  static constexpr std::int64_t longest_row = std::int64_t{1} << 22;  // elements

  std::vector<row_buffer> take_rows(std::vector<buffer>& allocated) const {
    std::vector<row_buffer> out;
    std::vector<buffer> left;
    for (const buffer& b : allocated) {
      buffer whole = b;
      for (const sparse_buffer& s : f_.buffers)
        if (s.storage == b) whole = s.coordinates;
      const auto d = row_dimension(members_, whole);
      std::int64_t elements = 1;
      for (std::size_t k = 0; d && k < whole->shape.size(); ++k)
        if (k != *d)
          elements *= is_int(whole->shape[k]) ? as_int(whole->shape[k]) : longest_row + 1;
      if (!d || elements > longest_row || !accessed(members_, whole) || used_elsewhere(whole)) {
        left.push_back(b);
        continue;
      }
      std::vector<expr> shape = whole->shape;
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*d));
      if (shape.empty()) shape.push_back(integer(whole->shape[*d].type(), 1));
      out.push_back({whole, make_buffer(whole->name, whole->type, shape), *d});
    }
    allocated = std::move(left);
    return out;
  }

  bool used_elsewhere(const buffer& b) const {
    bool out = false;
    for (const auto& part : f_.body) {
      if (const stmt* dense = std::get_if<stmt>(&part)) {
        for_each_expr(*dense,
                      [&](const expr& e) { out = out || (e->op == op::load && e->buffer == b); });
        for_each_stmt(
            *dense, [&](const stmt& s) { out = out || (as_store(s) && as_store(s)->buffer == b); });
        continue;
      }
      const auto& it = std::get<sparse_iteration>(part);
      const bool member = std::any_of(members_.begin(), members_.end(),
                                      [&](const auto& m) { return m.body == it.body; });
      out = out || (!member && accessed({it}, b));
    }
    return out;
  }

  const sparse_function& f_;
  std::vector<sparse_iteration> members_;
};

/// Takes the initialization out of an iteration with several variable axes, whose inner blocks run it again;
/// null where it stays.
inline stmt take_init(const sparse_function& f, sparse_iteration& it) {
  const auto variable = [](const sparse_iter& i) { return i.axis->variable(); };
  if (!it.init || co_iteration(f, it).needed() ||
      std::count_if(it.iters.begin(), it.iters.end(), variable) < 2)
    return {};
  block_node b;
  b.name = it.name + "_init";
  std::vector<var> loops;
  std::vector<expr> values, extents;
  var_map own;
  for (const sparse_iter& i : it.iters) {
    if (i.kind != iter_kind::spatial) continue;
    if (i.axis->kind != axis_kind::dense_fixed)
      throw argument_error("lower: iteration \"" + it.name +
                           "\" initializes a result along axis \"" + i.axis->name +
                           "\", which is stored (requirement 1)");
    const dtype index = i.var.type();
    const var fresh = make_var(i.var->name, index);
    own[i.var] = fresh;
    b.iters.push_back({fresh, {integer(index, 0), cast(index, i.axis->length)}, i.kind});
    loops.push_back(make_var(i.var->name + "_loop", index));
    values.push_back(loops.back());
    extents.push_back(cast(index, i.axis->length));
  }
  b.body = substitute(it.init, own);
  it.init = {};
  ir::detail::infer_regions(b, true, true);
  stmt out = make_realize(values, boolean(true), make_block(std::move(b)));
  for (std::size_t k = loops.size(); k-- > 0;)
    out = make_loop(loops[k], integer(loops[k].type(), 0), extents[k], out);
  return out;
}

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
  const bool patterns_meet = support::any(f.body, [&](const auto& part) {
    const auto* it = std::get_if<sparse_iteration>(&part);
    return it && co_iteration(f, *it).needed();
  });
  attr::dict out;
  for (const sparse_axis& axis : f.axes) {
    if (!axis->variable() || !is_int(axis->nnz)) continue;
    attr::list note{attr(indices_below(f, axis)), attr(as_int(axis->nnz))};
    if (patterns_meet && axis->sparse() && is_int(axis->length))
      note.push_back(as_int(axis->length));
    out[axis->indptr->name] = std::move(note);
  }
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
  std::vector<ir::buffer> allocated = f.alloc_buffers;
  std::vector<ir::stmt> body;
  detail::row_group group(f);
  const auto end_group = [&] {
    if (!group.empty()) body.push_back(group.lower(allocated));
  };
  for (const auto& part : f.body) {
    const auto* it = std::get_if<ir::sparse_iteration>(&part);
    if (!it) {
      end_group();
      body.push_back(std::get<ir::stmt>(part));
      continue;
    }
    ir::sparse_iteration whole = *it;
    const ir::stmt init = detail::take_init(f, whole);
    if (init || !group.takes(whole)) end_group();
    if (init) body.push_back(init);
    group.add(whole);
  }
  end_group();
  out.body = ir::make_root(ir::make_seq(std::move(body)), std::move(allocated));
  return out;
}

}  // namespace tilewright::sparse
