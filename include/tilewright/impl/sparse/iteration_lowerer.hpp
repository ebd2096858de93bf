// One sparse iteration as blocks over positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/ir/analysis/infer_regions.hpp>
#include <tilewright/impl/sparse/co_iteration.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse::detail {

using namespace tilewright::ir;

/// A buffer that is kept one row at a time, inside of the block of rows.
struct row_buffer {
  buffer whole;           // as expressions know it
  buffer row;             // without the dimension of rows
  std::size_t dimension;  // that one
};

/// Where an element lies in storage, and whether there is one; null where that is certain.
struct place {
  buffer in;
  std::vector<expr> at;
  expr inside;
};

/// Of an axis that is fused with its parent: the number of the parent's element that each of its own is below.
using parent_lists = std::map<const sparse_axis_node*, buffer>;

/// Makes blocks of one iteration.
class iteration_lowerer {
 public:
  /// @param rows buffers of one row at a time, instead of those that expressions know
  /// @param parents of the axes that iterations fuse
  iteration_lowerer(const sparse_function& f, const sparse_iteration& it,
                    const std::vector<row_buffer>& rows, const parent_lists& parents)
      : function_(f), it_(it), rows_(rows), parents_(parents), index_(it.iters.front().var.type()) {
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
    for (std::size_t k = 0; k < it_.iters.size(); ++k) {
      const sparse_iter& i = it_.iters[k];
      if (!i.axis->variable() || in_fused_group(it_.iters, k)) continue;
      const std::vector<sparse_axis> above = axes_above(i);
      for (const sparse_axis& a : above)
        if (!position_of(a)) refuse(1, "has no axis \"" + a->name + "\"");
      const auto reduced = [](const sparse_iter& o) { return o.kind != iter_kind::spatial; };
      if (it_.init &&
          std::any_of(it_.iters.begin(), it_.iters.begin() + place_of(above.back()) + 1, reduced))
        refuse(1, "does not begin with the parent of axis \"" + i.axis->name + "\", as spatial");
    }
  }

  /// Axes on whose positions the extent of the iterated one depends, outermost first.
  std::vector<sparse_axis> axes_above(const sparse_iter& i) const {
    if (!i.attached) return ancestry(i.axis->parent);
    std::vector<sparse_axis> out =
        axes_above(it_.iters[static_cast<std::size_t>(place_of(i.attached))]);
    out.push_back(i.attached);
    return out;
  }

  /// Number of the iteration variable of an axis.
  std::ptrdiff_t place_of(const sparse_axis& axis) const {
    std::ptrdiff_t out = 0;
    while (!(it_.iters[static_cast<std::size_t>(out)].axis == axis)) ++out;
    return out;
  }

  /// Numbers of axes on which the extents of the others depend, rising: those up to the parent of each variable
  /// one. Axes below one parent, beside each other, are in one block.
  std::vector<std::ptrdiff_t> rows_around() const {
    std::vector<std::ptrdiff_t> out;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      const sparse_iter& i = loops_[k];
      if (!i.axis->variable() || in_fused_group(loops_, k)) continue;
      const sparse_axis above = axes_above(i).back();
      std::ptrdiff_t after = 0;
      while (!(loops_[static_cast<std::size_t>(after)].axis == above)) ++after;
      while (loops_[static_cast<std::size_t>(after)].fused) ++after;
      out.push_back(after + 1);
    }
    if (out.empty()) out.push_back(0);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  /// The variable whose value says where along the axis the iteration is; null when it has none.
  expr position_of(const sparse_axis& axis) const {
    for (const sparse_iter& i : it_.iters)
      if (i.axis == axis) return i.var;
    for (const sparse_iter& i : it_.iters)
      if (i.attached && i.axis->parent == axis) return position_of(i.attached);
    return {};
  }

  /// Positions along the axes, where the iteration has them all.
  std::vector<expr> positions_of(const std::vector<sparse_axis>& axes) const {
    std::vector<expr> out;
    for (const sparse_axis& axis : axes) {
      out.push_back(position_of(axis));
      if (!out.back()) refuse(1, "has no axis \"" + axis->name + "\"");
      if (!axis->parent && is_int(axis->length, 1)) out.back() = integer(index_, 0);
    }
    return out;
  }

  /// Number of the element of the axis, among all that it has.
  expr address(const sparse_axis& axis) const {
    for (std::size_t k = 0; k < it_.iters.size(); ++k)
      if (it_.iters[k].axis == axis && in_fused_group(it_.iters, k)) return element(k);
    for (const sparse_iter& i : it_.iters)
      if (i.attached && i.axis->parent == axis)
        return coordinate_of(it_.iters[static_cast<std::size_t>(place_of(i.attached))]);
    if (axis->parent && is_numbered(axis->parent)) {
      const expr above = address(axis->parent), own = cast(index_, positions_of({axis}).front());
      return axis->variable() ? cast(index_, load(axis->indptr, {above})) + own
                              : above * fibre_extent(*axis, {}, index_) + own;
    }
    const std::vector<sparse_axis> chain = ancestry(axis);
    return storage_index(chain, positions_of(chain), index_);
  }

  /// Number of the element of axis `k` of a fused group. The loop counts elements of the last one.
  expr element(std::size_t k) const {
    if (!it_.iters[k].fused) return it_.iters[k].var;
    const sparse_axis& below = it_.iters[k + 1].axis;
    return cast(index_, load(parents_.at(below.get()), {element(k + 1)}));
  }

  /// Whether the number of an element of the axis is no sum of positions: the loop counts it, or data do.
  bool is_numbered(const sparse_axis& axis) const {
    for (std::size_t k = 0; k < it_.iters.size(); ++k)
      if ((it_.iters[k].axis == axis && in_fused_group(it_.iters, k)) ||
          (it_.iters[k].attached && it_.iters[k].axis->parent == axis))
        return true;
    return axis->parent && is_numbered(axis->parent);
  }

  expr extent_of(const sparse_axis& axis) const {
    return fibre_extent(*axis, axis->parent ? address(axis->parent) : expr{}, index_);
  }

  /// The coordinate that a variable of the iteration stands for.
  expr coordinate_of(const sparse_iter& i) const {
    const auto k = static_cast<std::size_t>(place_of(i.axis));
    if (!i.axis->sparse() && !in_fused_group(it_.iters, k)) return i.var;
    if (!i.axis->sparse()) {
      const expr at = element(k);
      return i.axis->variable() ? at - cast(index_, load(i.axis->indptr, {element(k - 1)})) : at;
    }
    return cast(index_, load(i.axis->indices, {address(i.axis)}));
  }

  /// Accesses by coordinates as accesses of storage, variables as positions.
  class to_positions : public mutator {
   public:
    explicit to_positions(const iteration_lowerer& of) : of_(of) {}
    using mutator::mutate;
    expr mutate(const expr& e) override {
      if (e->op == op::load && of_.is_moved(e->buffer)) {
        const place found = of_.moved(e->buffer, e->args, "reads");
        const expr value = load(found.in, found.at);
        const sparse_buffer* b = of_.function_.find(e->buffer);
        return found.inside
                   ? if_then_else(found.inside, value, b ? absent_value(*b) : literal(e.type(), 0))
                   : value;
      }
      if (e->op == op::var)
        for (const sparse_iter& i : of_.it_.iters)
          if (i.var.same(e)) return of_.coordinate_of(i);
      return mutator::mutate(e);
    }
    stmt mutate(const stmt& s) override {
      const store_node* store = as_store(s);
      if (!store || !of_.is_moved(store->buffer)) return mutator::mutate(s);
      const place found = of_.moved(store->buffer, store->indices, "writes");
      stmt out = make_store(found.in, found.at, mutate(store->value));
      return found.inside ? make_if(found.inside, std::move(out)) : out;
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
  place moved(const buffer& b, std::vector<expr> at, const std::string& does) const {
    const sparse_buffer* s = function_.find(b);
    const std::size_t stored = s ? stored_rank(*s) : 0;
    expr inside;
    for (std::size_t d = 0; d < stored; ++d) {
      const expr own = position_of(s->axes[d]);
      if (!inside && own && at[d].same(own)) continue;
      const expr below = counted(*s, at, d, does);
      inside = inside ? logical_and(inside, below) : below;
    }
    if (const row_buffer* r = row_of(b)) {
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(r->dimension));
      if (at.empty()) at.push_back(integer(index_, 0));
      for (std::size_t d = stored > 0 ? stored - 1 : 0; d < at.size(); ++d)
        at[d] = to_positions(*this).mutate(at[d]);
      return {r->row, std::move(at), inside};
    }
    for (std::size_t d = stored; d < at.size(); ++d) at[d] = to_positions(*this).mutate(at[d]);
    if (stored == 0 || !is_numbered(s->axes[stored - 1]))
      return {s->storage, place_in_storage(*s, at, index_), inside};
    if (inside)
      refuse(2, does + " \"" + b->name + "\" elsewhere than at the variables of its fused axes");
    return {s->storage, numbered_place(*s, at, does), {}};
  }

  /// Makes a position of the index of an axis that is not walked: elements that are counted lie where their
  /// coordinate says.
  /// @returns that there is such an element
  expr counted(const sparse_buffer& b, std::vector<expr>& at, std::size_t d,
               const std::string& does) const {
    const sparse_axis& axis = b.axes[d];
    const std::vector<sparse_axis> above(b.axes.begin(),
                                         b.axes.begin() + static_cast<std::ptrdiff_t>(d));
    if (axis->sparse() || !axis->parent || ancestry(axis->parent) != above)
      refuse(2,
             does + " \"" + b.coordinates->name + "\" elsewhere than at the variables of its axes");
    at[d] = cast(index_, to_positions(*this).mutate(at[d]));
    const std::vector<expr> before(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(d));
    const expr end = fibre_extent(*axis, storage_index(above, before, index_), index_);
    const expr ends = lt(at[d], end);
    return at[d]->op == op::var ? ends : logical_and(le(integer(index_, 0), at[d]), ends);
  }

  /// The indices of an element whose number is known, in the storage of `b`.
  std::vector<expr> numbered_place(const sparse_buffer& b, const std::vector<expr>& at,
                                   const std::string& does) const {
    const std::size_t stored = stored_rank(b);
    const sparse_axis& last = b.axes[stored - 1];
    if (ancestry(last) != std::vector<sparse_axis>(
                              b.axes.begin(), b.axes.begin() + static_cast<std::ptrdiff_t>(stored)))
      refuse(2, does + " \"" + b.coordinates->name + "\", whose axes are not those of one pattern");
    std::vector<expr> out{address(last)};
    for (std::size_t d = stored; d < at.size(); ++d) {
      if (b.storage->shape.size() > 1)
        out.push_back(at[d]);
      else
        out[0] = out[0] * fibre_extent(*b.axes[d], {}, index_) + cast(index_, at[d]);
    }
    return out;
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
    iter_kind kind = iter_kind::spatial;  // of the axes that one loop walks
    for (auto i = begin; i != end; ++i) {
      if (i->kind == iter_kind::reduce) kind = iter_kind::reduce;
      if (i->fused) continue;
      const bool last_of_group = i != begin && (i - 1)->fused;
      expr extent = last_of_group ? cast(index_, i->axis->nnz) : extent_of(i->axis);
      if (visited_once_more(*i)) extent = max(extent, integer(index_, 1));
      block.iters.push_back({i->var, {zero, extent}, std::exchange(kind, iter_kind::spatial)});
      const std::string& v = i->var->name;
      loops.push_back(make_var(v.size() > 1 && v[0] == 'v' ? v.substr(1) : v, index_));
      values.push_back(loops.back());
      extents.push_back(std::move(extent));
    }
    block.name = name;
    ir::detail::infer_regions(block, true, true);
    name_written_rows(block);
    stmt out = make_realize(values, boolean(true), make_block(std::move(block)));
    for (std::size_t k = loops.size(); k-- > 0;) out = make_loop(loops[k], zero, extents[k], out);
    return out;
  }

  /// A block that writes at the numbers of rows, which rise, writes one row of its result for each: its regions
  /// say so, and a note that the numbers do.
  void name_written_rows(block_node& block) const {
    const stmt whole = it_.body;
    attr::list rising;
    for_each_stmt(whole, [&](const stmt& s) {
      const store_node* store = as_store(s);
      if (!store || function_.find(store->buffer)) return;
      for (std::size_t d = 0; d < store->indices.size(); ++d)
        for (const sparse_iter& i : it_.iters) {
          if (!store->indices[d].same(i.var) || !numbers_rise(i)) continue;
          const range row{coordinate_of(i), integer(index_, 1)};
          for (auto* regions : {&block.reads, &block.writes})
            for (buffer_region& r : *regions)
              if (r.buffer == store->buffer) r.box[d] = row;
          rising.emplace_back(i.axis->indices->name);
        }
    });
    if (!rising.empty()) block.annotations[rising_annotation] = std::move(rising);
  }

  /// The coordinates are listed for all positions in one fibre, and rise.
  bool numbers_rise(const sparse_iter& i) const {
    const sparse_axis_node& axis = *i.axis;
    return axis.kind == axis_kind::sparse_fixed && axis.sorted && is_int(axis.parent->length, 1) &&
           !axis.parent->parent;
  }

  const sparse_function& function_;
  const sparse_iteration& it_;
  const std::vector<row_buffer>& rows_;
  const parent_lists& parents_;
  dtype index_;
  bool patterns_meet_ = false;
  std::vector<sparse_iter> loops_;  // around the block
};

}  // namespace tilewright::sparse::detail
