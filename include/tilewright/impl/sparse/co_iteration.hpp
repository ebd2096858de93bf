// Iterations in which patterns meet: rows that are merged, and elements that are looked up.
//
// An axis is merged with a cursor in each row (Kjolstad et al., The tensor algebra compiler, OOPSLA 2017,
// section 5), here of two rows that lie between p and p_end, q and q_end:
// ```
// intersect: while p < p_end and q < q_end:        unite: while p < p_end or q < q_end:
//              k = max(a[p], b[q])                          k = min(a[p], b[q])   # the last one is K
//              if a[p] == k and b[q] == k: body             body, with 0 for what is not at k
//              p += a[p] < k or both                        p += a[p] == k
//              q += b[q] < k or both                        q += b[q] == k
// ```
// A dense axis is walked in order with the same cursors. What is read anywhere else is found by binary
// search in its row, or, where one row is asked for all that another one stores and it pays, in a table of
// places:
// ```
// for p in row of a: place[a[p]] = -1        for p in row of a: q = place[a[p]]; body, with b's value at q
// for q in row of b: place[b[q]] = q                            or with 0 where q < 0
// ```
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse::detail {

using namespace tilewright::ir;

/// How an iteration in which patterns meet is divided: loops around its block, what the block walks, and
/// dense loops inside of the walk.
class co_iteration {
 public:
  co_iteration(const sparse_function& f, const sparse_iteration& it)
      : f_(f), it_(it), index_(it.iters.front().var.type()) {
    for_each_expr(it.body, [&](const expr& e) {
      if (e->op == op::load && f_.find(e->buffer) && !is_own(e)) reads_.push_back(e);
    });
    const auto merged = [](const sparse_iter& i) { return i.walk != axis_walk::every; };
    needed_ = !reads_.empty() || support::any(it.iters, merged);
    if (!needed_) return;
    if (support::any(it_.iters, [](const sparse_iter& i) { return i.fused || i.attached; }))
      refuse(4, "fuses or attaches axes where patterns meet");
    for (const expr& e : reads_) check_read(e);
    find_walked();
    divide();
  }

  /// Some pattern is met elsewhere than at the variables of its axes.
  bool needed() const { return needed_; }

  /// Iterations around the block; all where none is needed.
  const std::vector<sparse_iter>& outer() const { return needed_ ? outer_ : it_.iters; }

  /// The block's body and what it allocates; sparse buffers at variables of their own axes stay.
  /// @param extent of the walked axis, where its own pattern is walked
  template <class Extent>
  block_node block(const Extent& extent) {
    block_node out;
    out.annotations = it_.annotations;
    std::vector<stmt> parts;
    if (it_.init) {
      accumulate();
      parts.push_back(in_loops(accumulated(it_.init), inner_, iter_kind::spatial));
    }
    stmt walk = walked_ ? walked(extent) : visited();
    for (std::size_t k = rows_.size(); k-- > 0;) walk = over(rows_[k], walk);
    parts.push_back(std::move(walk));
    if (it_.init) parts.push_back(in_loops(results(), inner_, iter_kind::spatial));
    out.body = make_seq(std::move(parts));
    out.alloc_buffers = std::move(allocated_);
    return out;
  }

 private:
  /// A place in a row that moves along it.
  struct cursor {
    sparse_axis axis;
    expr row;
    buffer at;  // [1]
    var end, here, met;
  };
  /// An element that is searched for.
  struct search {
    sparse_axis axis;
    expr row, key;
    buffer low, high;  // [1]
    var end, met;
    buffer table;  // [coordinates], place of each that was asked or is stored; null: binary search
  };
  /// A result that is added up beside its place.
  struct accumulator {
    buffer target, sums;
  };

  [[noreturn]] void refuse(int requirement, const std::string& what) const {
    throw argument_error("lower: iteration \"" + it_.name + "\" " + what + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  /// Reads at the variables of its axes, or at positions below these that are counted: nothing is searched for.
  bool is_own(const expr& e) const {
    const sparse_buffer& b = *f_.find(e->buffer);
    bool counted = false;
    for (std::size_t d = 0; d < stored_rank(b); ++d) {
      const auto own = [&](const sparse_iter& i) {
        return i.axis == b.axes[d] && i.var.same(e->args[d]);
      };
      const auto attached = [&](const sparse_iter& i) {
        return i.attached && i.axis->parent == b.axes[d] &&
               support::any(it_.iters, [&](const sparse_iter& to) {
                 return to.axis == i.attached && to.var.same(e->args[d]);
               });
      };
      if (!counted && (support::any(it_.iters, own) || support::any(it_.iters, attached))) continue;
      if (b.axes[d]->sparse() || !b.axes[d]->parent) return false;
      counted = true;
    }
    return true;
  }

  void check_read(const expr& e) const {
    const std::vector<sparse_axis>& axes = f_.find(e->buffer)->axes;
    const bool rows = axes.size() == 2 && axes[1]->kind == axis_kind::sparse_variable &&
                      axes[1]->parent == axes[0] && axes[1]->sorted &&
                      axes[0]->kind == axis_kind::dense_fixed && !axes[0]->parent;
    if (!rows)
      refuse(2, "reads \"" + e->buffer->name +
                    "\" elsewhere than at the variables of its axes, which are no compressed rows");
  }

  bool reads_at(const sparse_iter& i) const {
    return support::any(reads_, [&](const expr& e) {
      return e->args[1].same(i.var) && !uses_var(e->args[0], i.var);
    });
  }

  void find_walked() {
    for (const sparse_iter& i : it_.iters) {
      if (i.walk != axis_walk::every) {
        if (walked_) refuse(4, "merges two axes");
        walked_ = i;
      }
    }
    if (walked_) return;
    const auto stored = [](const sparse_iter& i) { return i.axis->variable(); };
    const auto plain = [&](const sparse_iter& i) { return reads_at(i); };
    for (const sparse_iter& i : it_.iters)
      if (!walked_ && i.kind == iter_kind::reduce && stored(i)) walked_ = i;
    for (const sparse_iter& i : it_.iters)
      if (!walked_ && i.kind == iter_kind::reduce && plain(i)) walked_ = i;
  }

  bool is_walked(const sparse_iter& i) const { return walked_ && i.var.same(walked_->var); }
  /// The rows in which patterns are met depend on the variable.
  bool says_row(const sparse_iter& i) const {
    return support::any(reads_, [&](const expr& e) { return uses_var(e->args[0], i.var); });
  }
  /// The axis is one of a pattern that is walked.
  bool is_of_pattern(const sparse_iter& i) const {
    return i.axis->variable() ||
           support::any(it_.iters, [&](const sparse_iter& o) { return o.axis->parent == i.axis; });
  }

  void divide() {
    for (const sparse_iter& i : it_.iters) {
      if (is_walked(i)) continue;
      const bool before = says_row(i) || is_of_pattern(i) || !walked_;
      if (i.kind == iter_kind::spatial && before)
        outer_.push_back(i);
      else if (says_row(i) && merges())
        rows_.push_back(i);
      else
        inner_.push_back(i);
    }
    for (const expr& e : reads_) add_place(e);
  }

  /// Reads at the walked axis have cursors; where a pattern of its own is walked, they are searched for.
  bool merges() const { return walked_ && !walked_->axis->variable(); }

  static bool depends(const expr& e, const std::vector<sparse_iter>& on) {
    return support::any(on, [&](const sparse_iter& i) { return uses_var(e, i.var); });
  }

  buffer counter(const std::string& name) {
    allocated_.push_back(make_buffer(name, index_, {integer(index_, 1)}, "local"));
    return allocated_.back();
  }

  void add_place(const expr& e) {
    const sparse_axis& axis = f_.find(e->buffer)->axes[1];
    const expr &row = e->args[0], &key = e->args[1];
    const std::string& name = axis->name;
    if (merges() && key.same(walked_->var)) {
      if (uses_var(row, walked_->var) || depends(row, inner_))
        refuse(4, "reads \"" + e->buffer->name + "\" in a row that changes along the axis");
      const auto known = [&](const cursor& c) { return c.axis == axis && equal(c.row, row); };
      if (support::any(cursors_, known)) return;
      cursors_.push_back({axis, row, counter(name + "_at"), make_var(name + "_end", index_),
                          make_var(name + "_here", index_),
                          make_var(name + "_met", dtype::boolean)});
      return;
    }
    if (walked_ && walked_->walk != axis_walk::every && key.same(walked_->var)) return;
    const auto known = [&](const search& s) {
      return s.axis == axis && equal(s.row, row) && equal(s.key, key);
    };
    if (support::any(searches_, known)) return;
    searches_.push_back({axis,
                         row,
                         key,
                         counter(name + "_low"),
                         {},
                         make_var(name + "_end", index_),
                         make_var(name + "_met", dtype::boolean),
                         {}});
    search& made = searches_.back();
    if (pays_as_table(made)) {
      made.table = make_buffer(name + "_place", index_, {axis->length});
      allocated_.push_back(made.table);
    } else {
      made.high = counter(name + "_high");
    }
  }

  /// Elements of a row, on the average; 0 where that is not known.
  static double mean_row(const sparse_axis& axis) {
    if (!is_int(axis->nnz) || !is_int(axis->parent->length)) return 0;
    const auto rows = static_cast<double>(as_int(axis->parent->length));
    return rows > 0 ? static_cast<double>(as_int(axis->nnz)) / rows : 0;
  }

  /// One row is asked for each element of the row that is walked, so that it can be laid out once, and that
  /// costs less than searching. A step of a search ends with a branch that nothing predicts.
  bool pays_as_table(const search& s) const {
    constexpr double cost_of_step = 4;  // stores in a row
    constexpr std::int64_t longest_table = std::int64_t{1} << 18;
    if (!walked_ || merges() || !s.key.same(walked_->var) || uses_var(s.row, walked_->var) ||
        depends(s.row, inner_) || !is_int(s.axis->length) || as_int(s.axis->length) > longest_table)
      return false;
    const sparse_axis& rows = walked_->axis->parent;
    if (!walked_->axis->sparse() || rows->kind != axis_kind::dense_fixed || rows->parent)
      return false;
    const double asked = mean_row(walked_->axis), stored = mean_row(s.axis);
    return asked > 0 && stored > 0 &&
           cost_of_step * asked * std::log2(stored + 1) > 2 * asked + stored;
  }

  /// Results are added up in memory of the block, and stored when a row is done.
  void accumulate() {
    std::vector<expr> shape;
    for (const sparse_iter& i : inner_)
      if (i.kind == iter_kind::spatial) shape.push_back(i.axis->length);
    if (shape.empty()) shape.push_back(integer(index_, 1));
    for_each_stmt(it_.init, [&](const stmt& s) {
      const store_node* store = as_store(s);
      if (!store) return;
      sums_.push_back({store->buffer, make_buffer(store->buffer->name + "_sum", store->buffer->type,
                                                  shape, "local")});
      allocated_.push_back(sums_.back().sums);
    });
  }

  std::vector<expr> place_of_sum() const {
    std::vector<expr> out;
    for (const sparse_iter& i : inner_)
      if (i.kind == iter_kind::spatial) out.push_back(i.var);
    if (out.empty()) out.push_back(integer(index_, 0));
    return out;
  }

  const accumulator* sum_of(const buffer& b) const {
    for (const accumulator& a : sums_)
      if (a.target == b) return &a;
    return nullptr;
  }

  stmt results() const {
    std::vector<stmt> out;
    for_each_stmt(it_.init, [&](const stmt& s) {
      if (const store_node* store = as_store(s))
        out.push_back(make_store(store->buffer, store->indices,
                                 load(sum_of(store->buffer)->sums, place_of_sum())));
    });
    return make_seq(std::move(out));
  }

  expr zero() const { return integer(index_, 0); }
  expr one() const { return integer(index_, 1); }
  expr at(const buffer& counter) const { return load(counter, {zero()}); }
  stmt set(const buffer& counter, const expr& value) const {
    return make_store(counter, {zero()}, value);
  }
  expr first_of(const sparse_axis& axis, const expr& row) const {
    return cast(index_, load(axis->indptr, {row}));
  }
  expr last_of(const sparse_axis& axis, const expr& row) const {
    return cast(index_, load(axis->indptr, {row + integer(row.type(), 1)}));
  }
  expr index_at(const sparse_axis& axis, const expr& position) const {
    return cast(index_, load(axis->indices, {position}));
  }

  /// Accesses of results as those of their sums, reads of patterns as what cursors and searches found.
  class found : public mutator {
   public:
    explicit found(const co_iteration& of) : of_(of) {}
    using mutator::mutate;
    expr mutate(const expr& e) override {
      if (e->op != op::load) return mutator::mutate(e);
      if (const accumulator* a = of_.sum_of(e->buffer)) return load(a->sums, of_.place_of_sum());
      if (!of_.f_.find(e->buffer) || of_.is_own(e)) return mutator::mutate(e);
      return of_.element(e);
    }
    stmt mutate(const stmt& s) override {
      const store_node* store = as_store(s);
      const accumulator* a = store ? of_.sum_of(store->buffer) : nullptr;
      if (!a) return mutator::mutate(s);
      return make_store(a->sums, of_.place_of_sum(), mutate(store->value));
    }

   private:
    const co_iteration& of_;
  };

  stmt accumulated(const stmt& s) const { return found(*this).mutate(s); }

  expr element(const expr& e) const {
    const sparse_buffer& b = *f_.find(e->buffer);
    const expr absent = absent_value(b);
    for (const cursor& c : cursors_) {
      if (!(c.axis == b.axes[1]) || !equal(c.row, e->args[0]) || !e->args[1].same(walked_->var))
        continue;
      const expr stored = load(b.storage, {at(c.at)});
      return walked_->walk == axis_walk::intersect ? stored : if_then_else(c.met, stored, absent);
    }
    for (const search& s : searches_)
      if (s.axis == b.axes[1] && equal(s.row, e->args[0]) && equal(s.key, e->args[1]))
        return if_then_else(s.met, load(b.storage, {at(s.low)}), absent);
    throw internal_error("an element of a pattern that is neither merged nor looked up");
  }

  /// A loop over a dense axis, with a variable of its own.
  static stmt over(const sparse_iter& i, const stmt& body) {
    const var v = make_var(i.var->name, i.var.type());
    return make_loop(v, integer(v.type(), 0), cast(v.type(), i.axis->length),
                     substitute(body, {{i.var, v}}));
  }

  /// @param only loops of this kind; null: all
  static stmt in_loops(stmt body, const std::vector<sparse_iter>& loops,
                       std::optional<iter_kind> only) {
    for (std::size_t k = loops.size(); k-- > 0;)
      if (!only || loops[k].kind == *only) body = over(loops[k], body);
    return body;
  }

  /// The body at one point of the walk, with what it looks up.
  stmt visited() const {
    stmt out = accumulated(it_.body);
    for (const search& s : searches_)
      if (depends(s.row, inner_) || depends(s.key, inner_)) out = searched(s, std::move(out));
    out = in_loops(std::move(out), inner_, {});
    for (const search& s : searches_)
      if (!depends(s.row, inner_) && !depends(s.key, inner_)) out = searched(s, std::move(out));
    return out;
  }

  /// `low` becomes the place of the first element of the row that is not before the key.
  stmt searched(const search& s, stmt body) const {
    if (s.table)
      return make_seq({set(s.low, load(s.table, {s.key})),
                       make_let(s.met, ge(at(s.low), zero()), std::move(body))});
    const expr key = cast(index_, s.key);
    const var middle = make_var(s.axis->name + "_middle", index_);
    const expr low = at(s.low), high = at(s.high);
    stmt halve =
        make_if(lt(index_at(s.axis, middle), key), set(s.low, middle + one()), set(s.high, middle));
    halve = make_let(middle, low + floordiv(high - low, integer(index_, 2)), std::move(halve));
    const expr met = if_then_else(lt(low, s.end), eq(index_at(s.axis, low), key), boolean(false));
    stmt out = make_seq({set(s.low, first_of(s.axis, s.row)), set(s.high, s.end),
                         make_while(lt(low, high), std::move(halve)),
                         make_let(s.met, met, std::move(body))});
    return make_let(s.end, last_of(s.axis, s.row), std::move(out));
  }

  /// Fills the table of a row: nothing at all coordinates that are going to be asked, and places of its elements.
  void lay_out(const search& s, const expr& asked, std::vector<stmt>& to) const {
    expr row;  // that is walked
    for (const sparse_iter& i : it_.iters)
      if (i.axis == walked_->axis->parent) row = i.var;
    const var p = make_var(walked_->var->name, index_), q = make_var(s.axis->name + "_q", index_);
    const expr first = first_of(s.axis, s.row) + q;
    to.push_back(
        make_loop(p, zero(), asked,
                  make_store(s.table, {index_at(walked_->axis, first_of(walked_->axis, row) + p)},
                             integer(index_, -1))));
    to.push_back(make_loop(q, zero(), last_of(s.axis, s.row) - first_of(s.axis, s.row),
                           make_store(s.table, {index_at(s.axis, first)}, first)));
  }

  template <class Extent>
  stmt walked(const Extent& extent) const {
    if (!merges()) {
      std::vector<stmt> parts;
      for (const search& s : searches_)
        if (s.table) lay_out(s, extent(walked_->axis), parts);
      parts.push_back(make_loop(walked_->var, zero(), extent(walked_->axis), visited()));
      return make_seq(std::move(parts));
    }
    std::vector<stmt> out;
    for (const cursor& c : cursors_) out.push_back(set(c.at, first_of(c.axis, c.row)));
    out.push_back(walked_->walk == axis_walk::intersect ? intersection() : united());
    stmt all = make_seq(std::move(out));
    for (const cursor& c : cursors_) all = make_let(c.end, last_of(c.axis, c.row), std::move(all));
    return all;
  }

  /// Combines a condition or a value of each cursor.
  template <class Of, class Combine>
  expr of_all(const Of& of, const Combine& combine) const {
    expr out;
    for (const cursor& c : cursors_) out = out ? combine(out, of(c)) : of(c);
    return out;
  }

  stmt advanced(const cursor& c, const expr& moves) const {
    return set(c.at, at(c.at) + select(moves, one(), zero()));
  }

  stmt intersection() const {
    const expr& k = walked_->var;
    const var all = make_var(k->name + "_met", dtype::boolean);
    std::vector<stmt> step{make_if(all, visited(), {})};
    for (const cursor& c : cursors_) step.push_back(advanced(c, logical_or(lt(c.here, k), all)));
    const auto reached = [&](const cursor& c) { return eq(c.here, k); };
    const auto here = [](const cursor& c) { return c.here; };
    const auto both = [](const expr& a, const expr& b) { return logical_and(a, b); };
    stmt body = make_let(all, of_all(reached, both), make_seq(std::move(step)));
    body = make_let(k, of_all(here, [](const expr& a, const expr& b) { return ir::max(a, b); }),
                    std::move(body));
    for (const cursor& c : cursors_)
      body = make_let(c.here, index_at(c.axis, at(c.at)), std::move(body));
    const auto inside = [&](const cursor& c) { return lt(at(c.at), c.end); };
    return make_while(of_all(inside, both), std::move(body));
  }

  /// The points of a union, or all of a dense axis, with cursors that follow.
  stmt united() const {
    const expr& k = walked_->var;
    const expr beyond = cast(index_, walked_->axis->length);
    std::vector<stmt> step{visited()};
    for (const cursor& c : cursors_) step.push_back(advanced(c, c.met));
    stmt body = make_seq(std::move(step));
    for (const cursor& c : cursors_) body = make_let(c.met, eq(c.here, k), std::move(body));
    const bool dense = walked_->walk == axis_walk::every;
    const auto here = [](const cursor& c) { return c.here; };
    if (!dense)
      body = make_let(k, of_all(here, [](const expr& a, const expr& b) { return ir::min(a, b); }),
                      std::move(body));
    for (const cursor& c : cursors_) {
      const expr place = at(c.at);
      body = make_let(c.here, if_then_else(lt(place, c.end), index_at(c.axis, place), beyond),
                      std::move(body));
    }
    if (dense) return make_loop(k, zero(), beyond, std::move(body));
    const auto inside = [&](const cursor& c) { return lt(at(c.at), c.end); };
    const auto either = [](const expr& a, const expr& b) { return logical_or(a, b); };
    return make_while(of_all(inside, either), std::move(body));
  }

  const sparse_function& f_;
  const sparse_iteration& it_;
  dtype index_;
  bool needed_ = false;
  std::vector<expr> reads_;  // of patterns, elsewhere than at the variables of their axes
  std::optional<sparse_iter> walked_;
  std::vector<sparse_iter> outer_, rows_, inner_;
  std::vector<cursor> cursors_;
  std::vector<search> searches_;
  std::vector<accumulator> sums_;
  std::vector<buffer> allocated_;
};

}  // namespace tilewright::sparse::detail
