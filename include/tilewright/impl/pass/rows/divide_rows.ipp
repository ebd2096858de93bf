#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/accumulation.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/rows/divide_rows.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/function_ref.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::pass::detail::divided_rows {

using namespace tilewright::ir;
using reductions::accumulation, reductions::match_single;

/// Puts two variables in the place of the offsets of a row: where what is walked of it begins and ends.
class bounded_row : public mutator {
 public:
  /// @param only whether there is no other row, so that a place in its offsets may be written as a number
  bounded_row(buffer offsets, var row, bool only)
      : first(make_var(offsets->name + "_first", offsets->type)),
        end(make_var(offsets->name + "_end", offsets->type)),
        offsets_(std::move(offsets)),
        row_(std::move(row)),
        only_(only) {}
  using mutator::mutate;

  expr mutate(const expr& e) override {
    if (is_var(e)) {
      const auto known = names_.find(e);
      return known == names_.end() ? e : known->second;
    }
    if (e->op != op::load || e->buffer != offsets_) return mutator::mutate(e);
    const arith::linear at = arith::to_linear(e->args[0]);
    const bool own = at.is_constant() ? only_ : at.terms.size() == 1 && at.coefficient(row_) == 1;
    if (own && at.constant == 0) return first;
    if (own && at.constant == 1) return end;
    others = true;
    return e;
  }

  stmt mutate(const stmt& s) override {
    const let_node* let = as_let(s);
    if (!let) return mutator::mutate(s);
    const expr value = mutate(let->value);
    if (!value.same(first) && !value.same(end)) return make_let(let->var, value, mutate(let->body));
    names_[let->var] = value;
    return mutate(let->body);
  }

  const var first, end;
  bool others = false;  // offsets of other rows are read

 private:
  buffer offsets_;
  var row_;
  bool only_;
  var_map names_;
};

/// What the iterations of a loop over rows store, as far as a row can be divided.
class row_sums : public visitor {
 public:
  row_sums(var row, const bounded_row& bounds, bool only)
      : row_(std::move(row)), first_(bounds.first), end_(bounds.end), only_(only) {}
  using visitor::visit;

  /// Whether the row may be divided.
  bool divisible() const {
    return fine_ && step_ && (only_ || support::any(by_row_, [](bool b) { return b; }));
  }

  const buffer& result() const { return result_; }
  /// How values are combined.
  const accumulation& step() const { return *step_; }
  /// Of each dimension of the result: whether the row says where in it the iteration stores.
  const std::vector<bool>& by_row() const { return by_row_; }
  /// Where it stores in dimension `d`, at row `row`.
  expr place(std::size_t d, const expr& row) const { return substitute(place_[d], {{row_, row}}); }

  void visit(const expr& e) override { fine_ = fine_ && belongs(e); }

  void visit(const stmt& s) override {
    if (!fine_) return;
    switch (s->kind) {
      case stmt_kind::loop: return visit_loop(*as_loop(s));
      case stmt_kind::let: return visit_let(*as_let(s));
      case stmt_kind::store: return visit_store(*as_store(s));
      case stmt_kind::seq:
      case stmt_kind::if_else: return visitor::visit(s);
      default: fine_ = false;
    }
  }

 private:
  var_set moved() const {
    var_set out{first_, end_};
    if (walk_) out.insert(walk_);
    return out;
  }

  /// Whether the value is one of the element that is walked: wherever its number in the row occurs, the beginning of the
  /// row is added to it as often.
  bool belongs(const expr& e) const {
    if (!uses_any(e, moved())) return true;
    if (is_index(e.type())) {
      const arith::linear sum = arith::to_linear(e);
      const std::int64_t number = walk_ ? sum.coefficient(walk_) : 0;
      if (sum.coefficient(first_) != number || sum.coefficient(end_) != 0) return false;
      const bool whole = sum.terms.size() == 1 && sum.terms[0].first.same(e);
      if (!whole) {
        for (const auto& [term, factor] : sum.terms)
          if (!term.same(first_) && !term.same(walk_) && !belongs(term)) return false;
        return true;
      }
    }
    return support::all(e->args, [this](const expr& arg) { return belongs(arg); });
  }

  /// Without the bound that keeps a number of elements from being negative.
  static expr counted(const expr& extent) {
    if (extent->op != op::max) return extent;
    const bool zero = is_int(extent->args[0], 0);
    return zero || is_int(extent->args[1], 0) ? extent->args[zero ? 1 : 0] : extent;
  }

  void visit_loop(const loop_node& l) {
    const var_set bounds{first_, end_};
    if (l.loop == loop_kind::parallel || l.loop == loop_kind::thread_binding) {
      fine_ = false;
    } else if (!uses_any(l.extent, bounds)) {
      visit(l.min);
      visit(l.extent);
      inner_.insert(l.var);
      visit(l.body);
    } else {
      const arith::linear count = arith::to_linear(counted(l.extent));
      fine_ = !walk_ && l.loop == loop_kind::serial && is_int(l.min, 0) && count.constant == 0 &&
              count.terms.size() == 2 && count.coefficient(end_) == 1 &&
              count.coefficient(first_) == -1;
      walk_ = l.var;
      inner_.insert(l.var);
      visit(l.body);
      walk_ = {};
    }
  }

  void visit_let(const let_node& let) {
    visit(let.value);
    lets_[let.var] = substitute(let.value, lets_);
    visit(let.body);
  }

  bool reads_result(const expr& e) const {
    bool found = false;
    for_each_expr(e, [&](const expr& x) { found = found || x->buffer == result_; });
    return found;
  }

  void visit_store(const store_node& s) {
    fine_ = (!result_ || result_ == s.buffer) && stands(s);
    if (!fine_) return;
    std::optional<accumulation> step = walk_ ? match_single(s) : std::nullopt;
    const expr& value = step ? step->value[0] : s.value;
    const bool begins = !walk_ && !uses_any(substitute(value, lets_), moved());
    const bool same = step && (!step_ || step_->combine == step->combine);
    fine_ = (step ? same : begins) && !reads_result(value) && belongs(value);
    if (step) step_ = std::move(step);
  }

  /// Whether it is where the row and variables that do not depend on it say.
  bool stands(const store_node& s) {
    const bool known = static_cast<bool>(result_);
    result_ = s.buffer;
    for (std::size_t d = 0; d < s.indices.size(); ++d) {
      const expr at = substitute(s.indices[d], lets_);
      const bool by_row = uses_var(at, row_);
      if (reads_result(at) || uses_any(at, moved()) || (by_row && uses_any(at, inner_)))
        return false;
      if (!by_row && !is_int(s.buffer->shape[d])) return false;
      if (!known) {
        by_row_.push_back(by_row);
        place_.push_back(at);
      } else if (by_row != by_row_[d] || (by_row && !arith::same_value(at, place_[d]))) {
        return false;
      }
    }
    return true;
  }

  var row_, first_, end_;
  bool only_;      // there is no other row
  var walk_;       // the loop over elements that is being looked at
  var_set inner_;  // variables of all loops
  var_map lets_;
  buffer result_;
  std::optional<accumulation> step_;
  std::vector<bool> by_row_;
  std::vector<expr> place_;
  bool fine_ = true;
};

/// The steps of sums in `s`, into a row apart; what begins results is left out.
class kept_apart : public mutator {
 public:
  kept_apart(const row_sums& sums, buffer rest, var task)
      : sums_(sums), rest_(std::move(rest)), task_(std::move(task)) {}
  using mutator::mutate;

  expr mutate(const expr& e) override {
    if (e->op != op::load || e->buffer != sums_.result()) return mutator::mutate(e);
    return load(rest_, indices(e->args));
  }

  stmt mutate(const stmt& s) override {
    if (const store_node* store = as_store(s)) {
      if (!match_single(*store)) return make_seq({});
      return make_store(rest_, indices(store->indices), mutate(store->value));
    }
    stmt out = mutator::mutate(s);
    return as_loop(out) && is_nothing(as_loop(out)->body) ? make_seq({}) : out;
  }

 private:
  std::vector<expr> indices(const std::vector<expr>& of) {
    std::vector<expr> out{task_};
    for (std::size_t d = 0; d < of.size(); ++d)
      if (!sums_.by_row()[d]) out.push_back(mutate(of[d]));
    return out;
  }

  const row_sums& sums_;
  buffer rest_;
  var task_;
};

/// The tasks of one loop.
class task_loop {
 public:
  /// @param around what is bound to loads around the loop, as the offsets of an only row are
  task_loop(const loop_node& rows, buffer offsets, std::int64_t tasks, const var_map& around)
      : loop_(rows),
        offsets_(std::move(offsets)),
        tasks_(integer(dtype::i32, tasks)),
        row_(rows.var.type()),
        bounds_(offsets_, rows.var, is_unit(rows)),
        body_(bounds_.mutate(is_unit(rows) ? substitute(rows.body, around) : rows.body)),
        sums_(rows.var, bounds_, is_unit(rows)) {}

  /// Null where a row cannot be divided.
  stmt divided() {
    if (bounds_.others) return {};
    sums_.visit(body_);
    if (!sums_.divisible()) return {};
    std::vector<expr> shape{tasks_};
    const buffer& result = sums_.result();
    for (std::size_t d = 0; d < result->shape.size(); ++d)
      if (!sums_.by_row()[d]) shape.push_back(result->shape[d]);
    rest_ = make_buffer(result->name + "_rest", result->type, std::move(shape));
    ends_ = make_buffer(loop_.var->name + "_end", row_, {tasks_});
    const var t = make_var("t");
    stmt out = make_seq({make_loop(t, 0, tasks_, task(t), loop_kind::parallel), put_together()});
    return make_allocate(rest_, make_allocate(ends_, std::move(out)));
  }

 private:
  expr number(std::int64_t n) const { return integer(row_, n); }
  expr offset(const expr& at) const { return load(offsets_, {at}); }
  static expr wide(const expr& e) { return cast(dtype::i64, e); }

  /// Ends of rows and elements before task `t`.
  expr share(const expr& t) const {
    return floordiv((wide(offset(loop_.extent)) + wide(loop_.extent)) * wide(t), wide(tasks_));
  }

  /// `rows[0]` becomes the first row that ends in task `t` or behind it, `rows[1]` the same of the next task.
  stmt search(const var& t, const buffer& rows) const {
    const std::string& name = loop_.var->name;
    const buffer low = make_buffer(name + "_low", row_, {integer(dtype::i32, 1)}, "local"),
                 high = make_buffer(name + "_high", row_, {integer(dtype::i32, 1)}, "local");
    const expr zero = integer(dtype::i32, 0);
    const auto at = [&](const buffer& b) { return load(b, {zero}); };
    const auto set = [&](const buffer& b, const expr& to) { return make_store(b, {zero}, to); };
    const var side = make_var("side"), middle = make_var(name + "_middle", row_),
              wanted = make_var(name + "_share", dtype::i64);
    const expr ends_at = wide(offset(middle + number(1))) + wide(middle);
    const stmt halve =
        make_let(middle, at(low) + floordiv(at(high) - at(low), number(2)),
                 make_if(lt(ends_at, wanted), set(low, middle + number(1)), set(high, middle)));
    stmt out =
        make_seq({set(low, number(0)), set(high, loop_.extent),
                  make_while(lt(at(low), at(high)), halve), make_store(rows, {side}, at(low))});
    out = make_let(wanted, share(t + side), std::move(out));
    return make_loop(side, 0, integer(dtype::i32, 2),
                     make_allocate(low, make_allocate(high, std::move(out))));
  }

  /// What is done in a row between two elements.
  stmt part(const expr& row, const expr& from, const expr& to, stmt body) const {
    body = make_let(bounds_.first, min(max(offset(row), from), offset(row + number(1))),
                    make_let(bounds_.end, to, std::move(body)));
    return substitute(body, {{loop_.var, row}});
  }

  stmt task(const var& t) const {
    const std::string& name = loop_.var->name;
    const buffer rows = make_buffer(name + "_rows", row_, {integer(dtype::i32, 2)}, "local");
    const var first = make_var(name + "_first", row_), last = make_var(name + "_last", row_),
              from = make_var(name + "_from", offsets_->type),
              to = make_var(name + "_to", offsets_->type), row = make_var(name, row_);
    annotations notes = loop_.annotations;
    notes.erase(balance_annotation);
    notes.erase(tasks_annotation);
    stmt whole =
        make_loop(row, first, last - first, part(row, from, offset(row + number(1)), body_),
                  loop_kind::serial, std::move(notes));
    stmt rest = make_seq({over_rest([&](const std::vector<expr>& at) {
                            std::vector<expr> place{t};
                            place.insert(place.end(), at.begin(), at.end());
                            return make_store(rest_, place, nothing());
                          }),
                          kept_apart(sums_, rest_, t).mutate(body_)});
    // offsets are in the bounds, so that what addresses are made of is known not to overflow
    const expr behind = max(min(offset(last + number(1)), to), offset(last));
    rest = make_if(lt(last, loop_.extent), rename_loops(part(last, from, behind, std::move(rest))));
    stmt out = make_seq({make_store(ends_, {t}, last), std::move(whole), std::move(rest)});
    const auto element = [&](const expr& at, const expr& in) {
      return cast(offsets_->type, share(at) - wide(in));
    };
    out = make_let(from, element(t, first),
                   make_let(to, element(t + integer(dtype::i32, 1), last), std::move(out)));
    const auto found = [&](std::int64_t n) { return load(rows, {integer(dtype::i32, n)}); };
    out = make_let(first, found(0), make_let(last, found(1), std::move(out)));
    return make_allocate(rows, make_seq({search(t, rows), std::move(out)}));
  }

  /// What combines with any value to that value: -0 in sums, where 0 would take the sign of a -0.
  expr nothing() const {
    const accumulation& step = sums_.step();
    const dtype type = rest_->type;
    return step.combine == op::add && is_float(type) ? real(type, -0.0) : step.identity()[0];
  }

  /// A result and what a task has kept apart; where that is nothing, a result that is no number stays, too.
  expr with_part(const expr& old, const expr& part) const {
    const accumulation& step = sums_.step();
    const expr both = step.combined({old}, {part})[0];
    const bool orders = step.combine == op::max || step.combine == op::min;
    return orders ? select(eq(part, nothing()), old, both) : both;
  }

  /// Loops over all elements of a row of the result.
  stmt over_rest(support::function_ref<stmt(const std::vector<expr>&)> body) const {
    std::vector<expr> at;
    std::vector<var> loops;
    for (std::size_t d = 1; d < rest_->shape.size(); ++d) {
      loops.push_back(make_var("c", rest_->shape[d].type()));
      at.push_back(loops.back());
    }
    stmt out = body(at);
    for (std::size_t d = loops.size(); d-- > 0;) {
      const expr& extent = rest_->shape[d + 1];
      const bool vector = d + 1 == loops.size() && as_int(extent) > 1;
      out = make_loop(loops[d], integer(extent.type(), 0), extent, std::move(out),
                      vector ? loop_kind::vectorized : loop_kind::serial);
    }
    return out;
  }

  /// What tasks have kept apart, in their order.
  stmt put_together() const {
    const var t = make_var("t"), row = make_var(loop_.var->name, row_);
    stmt out = over_rest([&](const std::vector<expr>& at) {
      std::vector<expr> place{t}, to;
      place.insert(place.end(), at.begin(), at.end());
      std::size_t other = 0;
      for (std::size_t d = 0; d < sums_.by_row().size(); ++d)
        to.push_back(sums_.by_row()[d] ? sums_.place(d, row) : at[other++]);
      return make_store(sums_.result(), to,
                        with_part(load(sums_.result(), to), load(rest_, place)));
    });
    out = make_let(row, load(ends_, {t}), make_if(lt(row, loop_.extent), std::move(out)));
    return make_loop(t, 0, tasks_, std::move(out));
  }

  const loop_node& loop_;
  buffer offsets_;
  expr tasks_;
  dtype row_;
  bounded_row bounds_;
  stmt body_;
  row_sums sums_;
  buffer rest_;  // [tasks, what a row of the result has]
  buffer ends_;  // [tasks], the row that each of them does not come to the end of
};

class divider : public mutator {
 public:
  explicit divider(const function& f) : f_(f), written_(stored_buffers(f.body)) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const let_node* let = as_let(s);
    if (let && let->value->op == op::load && written_.count(let->value->buffer) == 0)
      around_[let->var] = let->value;
    const loop_node* loop = as_loop(s);
    if (!loop || loop->loop != loop_kind::parallel) return mutator::mutate(s);
    const auto note = loop->annotations.find(tasks_annotation);
    const auto* tasks =
        note == loop->annotations.end() ? nullptr : std::get_if<std::int64_t>(&note->second.value);
    const buffer offsets = offsets_of_rows(*loop);
    if (!tasks || *tasks < 2 || !offsets) return s;
    stmt out = task_loop(*loop, offsets, *tasks, around_).divided();
    return out ? out : s;
  }

 private:
  /// The offsets that the loop is shared out by; null where they are not those of its rows.
  buffer offsets_of_rows(const loop_node& l) const {
    const auto note = l.annotations.find(balance_annotation);
    const auto* name =
        note == l.annotations.end() ? nullptr : std::get_if<std::string>(&note->second.value);
    if (!name || !is_int(l.min, 0)) return {};
    for (const param& p : f_.params) {
      const buffer& b = p.buffer;
      if (!b || b->name != *name || b->shape.size() != 1 || written_.count(b) > 0) continue;
      const bool rows = is_index(b->type) &&
                        arith::same_value(b->shape[0], l.extent + integer(l.extent.type(), 1));
      return rows ? b : buffer();
    }
    return {};
  }

  const function& f_;
  buffer_set written_;
  var_map around_;
};

}  // namespace tilewright::pass::detail::divided_rows

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function divide_rows(const ir::function& f) {
  if (ir::keeps_term_order(f)) return f;
  ir::function out = f;
  out.body = detail::divided_rows::divider(f).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
