#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/impl/pass/unrolled_size.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/trim_loops.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::trim {

using namespace tilewright::ir;

class trimmer : public arith::scoped_mutator {
 public:
  using scoped_mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* original = as_loop(s);
    if (!original) return scoped_mutator::mutate(s);
    const bool outer =
        std::exchange(inside_reduction_, inside_reduction_ || is_reduction(*original));
    const stmt out = scoped_mutator::mutate(s);
    inside_reduction_ = outer;
    const loop_node& loop = *as_loop(out);
    const if_node* guard = as_if(loop.body);
    if (loop.loop == loop_kind::parallel || loop.loop == loop_kind::thread_binding) return out;
    if (!guard) return by_remainders(loop, out);
    if (guard->else_body) {
      const stmt parts = cut(loop, *guard, out);
      return parts.get() == out.get() ? ask_before(loop, *guard, out) : parts;
    }
    const stmt stepped = step(loop, *guard, out);
    if (stepped.get() != out.get()) return stepped;
    const stmt trimmed = trim(loop, *guard, out);
    return trimmed.get() == out.get() ? by_remainders(loop, out) : trimmed;
  }

 private:
  /// (factor * v + others) % by == 0, where factor is 1 or -1.
  struct remainder {
    std::int64_t factor, by;
    arith::linear others;
  };

  static std::optional<remainder> remainder_of(const expr& term, const var& v) {
    if (term->op != op::eq || !is_int(term->args[1], 0)) return std::nullopt;
    const expr& left = term->args[0];
    if (left->op != op::floormod || !is_int(left->args[1]) || as_int(left->args[1]) < 2)
      return std::nullopt;
    remainder out{0, as_int(left->args[1]), arith::to_linear(left->args[0])};
    out.factor = out.others.coefficient(v);
    if ((out.factor != 1 && out.factor != -1) || out.others.type != v.type()) return std::nullopt;
    erase_if(out.others.terms, [&](const auto& t) { return t.first.same(v); });
    if (mentions(out.others, v)) return std::nullopt;
    return out;
  }

  /// The iterations that a remainder lets through, one in so many, become all of a loop.
  stmt step(const loop_node& loop, const if_node& guard, const stmt& unchanged) {
    if (loop.loop != loop_kind::serial || is_tile_loop(loop, inside_reduction_) ||
        !is_int(loop.min) || !is_int(loop.extent))
      return unchanged;
    std::vector<expr> rest = conjuncts(guard.condition);
    for (auto term = rest.begin(); term != rest.end(); ++term) {
      const std::optional<remainder> r = remainder_of(*term, loop.var);
      if (!r) continue;
      rest.erase(term);
      const dtype type = loop.var.type();
      const std::int64_t extent = as_int(loop.extent);
      // the first one, counted from the loop's
      const expr first = known.simplify(
          floormod(integer(type, -r->factor) * arith::from_linear(r->others) - loop.min,
                   integer(type, r->by)));
      const expr place = first + loop.var * integer(type, r->by);
      const var_map moved{{loop.var, loop.min + place}};
      stmt body = guard.then_body;
      if (!rest.empty()) body = make_if(conjunction(rest), body);
      body = substitute(body, moved);
      if (extent % r->by != 0) body = make_if(lt(place, loop.extent), body);
      return with_domain(loop, integer(type, 0), integer(type, (extent + r->by - 1) / r->by),
                         std::move(body));
    }
    return unchanged;
  }

  /// Largest number of remainders, and of stores, that are written out for one loop.
  static constexpr std::int64_t most_remainders = 4, most_written_out = 512;
  /// Results of a tile from which on it pays: of fewer, a remainder leaves one or two, whose additions wait for each other
  /// whether a branch stands in between or not, and code that repeats itself took 1.1 to 1.2 times as long.
  static constexpr std::int64_t least_results = 8;

  /// What is asked of a remainder somewhere in a loop: sum % by.
  struct asked_remainder {
    arith::linear sum;
    std::int64_t by;
  };

  static std::vector<asked_remainder> asked_remainders(const loop_node& loop) {
    std::vector<asked_remainder> out;
    for_each_stmt(loop.body, [&](const stmt& s) {
      const if_node* n = as_if(s);
      if (!n) return;
      for (const expr& term : conjuncts(n->condition)) {
        const expr& left = term->op == op::eq && is_int(term->args[1]) ? term->args[0] : term;
        if (left->op != op::floormod || !is_int(left->args[1])) continue;
        const std::int64_t by = as_int(left->args[1]);
        if (by < 2 || by > most_remainders || !uses_var(left->args[0], loop.var)) continue;
        arith::linear sum = arith::to_linear(left->args[0]);
        if (sum.coefficient(loop.var) % by != 0) out.push_back({std::move(sum), by});
      }
    });
    return out;
  }

  /// After how many iterations of a loop the remainders that are asked for inside of it come again, where all else that they
  /// depend on is written out; 1: there are none. A transposed convolution asks so for its taps and the rows of a tile.
  static std::int64_t period_of(const loop_node& loop) {
    const std::vector<asked_remainder> all = asked_remainders(loop);
    if (all.empty()) return 1;
    var_set written_out;
    for_each_stmt(loop.body, [&](const stmt& s) {
      const loop_node* l = as_loop(s);
      if (l && l->loop == loop_kind::unrolled && is_int(l->min) && constant_extent(*l) > 0)
        written_out.insert(l->var);
    });
    std::int64_t period = 1;
    for (const asked_remainder& r : all)
      if (support::all(r.sum.terms, [&](const auto& t) {
            return t.first.same(loop.var) || written_out.count(t.first) != 0 ||
                   t.second % r.by == 0;
          }))
        period = std::lcm(period, r.by);
    return period;
  }

  /// Results, vectors counted as one, that an iteration adds to: `s` stands in it.
  static std::int64_t results_of(const stmt& s) {
    if (const seq_node* seq = as_seq(s)) {
      std::int64_t most = 1;
      for (const stmt& child : seq->stmts) most = std::max(most, results_of(child));
      return most;
    }
    if (const if_node* n = as_if(s)) return results_of(n->then_body);
    if (const allocate_node* n = as_allocate(s)) return results_of(n->body);
    const loop_node* l = as_loop(s);
    if (!l) return 1;
    constexpr std::int64_t longest = 16;  // of a tile
    const std::int64_t extent = constant_extent(*l);
    const bool repeats = l->loop != loop_kind::vectorized && !is_reduction(*l) && extent <= longest;
    return results_of(l->body) * (repeats ? std::max<std::int64_t>(extent, 1) : 1);
  }

  /// As many iterations at a time as differ in remainders that are asked for inside, written out.
  stmt by_remainders(const loop_node& loop, const stmt& unchanged) const {
    const std::int64_t extent = constant_extent(loop);
    if (loop.loop != loop_kind::serial || !is_int(loop.min) || extent < 2 ||
        is_tile_loop(loop, inside_reduction_))
      return unchanged;
    const std::int64_t period = period_of(loop);
    const std::int64_t size =
        unrolled_size(loop.body, [](const loop_node& l) { return unrolled_times(l); });
    if (period == 1 || period > most_remainders || extent % period != 0 ||
        period * size > most_written_out || results_of(loop.body) < least_results)
      return unchanged;
    const dtype type = loop.var.type();
    const var outer = make_var(loop.var->name, type), inner = make_var(loop.var->name + "_u", type);
    const expr by = integer(type, period);
    const stmt body = substitute(loop.body, {{loop.var, loop.min + outer * by + inner}});
    return make_loop(
        outer, integer(type, 0), integer(type, extent / period),
        make_loop(inner, integer(type, 0), by, body, loop_kind::unrolled, loop.annotations),
        loop_kind::serial, loop.annotations);
  }

  /// A loop for the iterations of each branch, where the condition compares the variable alone.
  static stmt cut(const loop_node& loop, const if_node& choice, const stmt& unchanged) {
    if (loop.loop != loop_kind::serial || is_reduction(loop) || !is_int(loop.min) ||
        !is_int(loop.extent))
      return unchanged;
    const std::optional<arith::linear> sum = as_nonpositive(choice.condition);
    if (!sum || sum->terms.size() != 1 || !sum->terms[0].first.same(loop.var)) return unchanged;
    const std::int64_t factor = sum->terms[0].second, t = sum->constant;
    const std::int64_t begin = as_int(loop.min), end = begin + as_int(loop.extent);
    // factor * v + t <= 0
    const bool rises = factor < 0;
    const std::int64_t met = rises ? -floor_divide(-t, -factor) : floor_divide(-t, factor) + 1;
    const std::int64_t border = std::clamp(met, begin, end);
    const auto part = [&](std::int64_t from, std::int64_t to, const stmt& body) {
      const dtype type = loop.var.type();
      return with_domain(loop, integer(type, from), integer(type, to - from), body);
    };
    const stmt& first = rises ? choice.else_body : choice.then_body;
    const stmt& second = rises ? choice.then_body : choice.else_body;
    if (border == begin) return part(begin, end, second);
    if (border == end) return part(begin, end, first);
    return make_seq({part(begin, border, first), rename_loops(part(border, end, second))});
  }

  /// A choice in a loop whose iterations do little, asked before it: what does not move along the loop once, and the rest,
  /// where it is bounds of the loop's variable, as the ends of loops.
  stmt ask_before(const loop_node& loop, const if_node& choice, const stmt& unchanged) const {
    if (loop.loop != loop_kind::serial || is_reduction(loop) || !is_int(loop.min) ||
        !is_int(loop.extent) || is_tile_loop(loop, inside_reduction_) ||
        reads_memory(choice.condition) || !is_small(choice.then_body) ||
        !is_small(choice.else_body))
      return unchanged;
    const dtype type = loop.var.type();
    const expr begin = loop.min, end = loop.min + loop.extent;
    std::vector<expr> around;
    expr first = begin, stop = end;
    for (const expr& term : conjuncts(choice.condition)) {
      if (!uses_var(term, loop.var)) {
        around.push_back(term);
        continue;
      }
      const std::optional<bound> b = bound_of(term, loop.var);
      if (!b) return unchanged;
      if (b->is_last)
        stop = min(stop, b->value + integer(type, 1));
      else
        first = max(first, b->value);
    }
    first = known.simplify(min(first, end));
    stop = known.simplify(max(stop, first));
    std::vector<stmt> parts;
    const auto part = [&](const expr& from, const expr& to, const stmt& body) {
      const expr extent = known.simplify(to - from);
      if (!is_int(extent, 0)) parts.push_back(rename_loops(with_domain(loop, from, extent, body)));
    };
    part(begin, first, choice.else_body);
    part(first, stop, choice.then_body);
    part(stop, end, choice.else_body);
    stmt out = make_seq(std::move(parts));
    if (around.empty()) return out;
    return make_if(conjunction(around), std::move(out),
                   rename_loops(with_domain(loop, loop.min, loop.extent, choice.else_body)));
  }

  /// Stores of an iteration, vectors counted as one, beside which a choice costs; and those that copies may have.
  static constexpr std::int64_t most_stores = 64;

  /// Whether an iteration does little: `s` stands in it.
  static bool is_small(const stmt& s) {
    return unrolled_size(s, [](const loop_node& l) {
             if (l.loop == loop_kind::vectorized) return std::int64_t{1};
             return is_int(l.extent)
                        ? std::clamp<std::int64_t>(as_int(l.extent), 1, most_stores + 1)
                        : most_stores + 1;
           }) <= most_stores;
  }

  /// The first or the last value of a variable that a comparison lets through.
  struct bound {
    expr value;
    bool is_last, is_literal;
  };

  static std::optional<bound> bound_of(const expr& term, const var& v) {
    const dtype type = v.type();
    const std::optional<arith::linear> sum = as_nonpositive(term);
    const std::int64_t factor = sum && sum->type == type ? sum->coefficient(v) : 0;
    if (factor == 0) return std::nullopt;
    arith::linear others = *sum;
    erase_if(others.terms, [&](const auto& t) { return t.first.same(v); });
    if (mentions(others, v)) return std::nullopt;
    const bool literal = others.is_constant();
    // factor * v + t <= 0
    const expr t = arith::from_linear(others);
    if (factor > 0)
      return bound{floordiv(integer(type, 0) - t, integer(type, factor)), true, literal};
    return bound{ceildiv(t, integer(type, -factor)), false, literal};
  }

  stmt trim(const loop_node& loop, const if_node& guard, const stmt& unchanged) {
    const bool constant_only =
        loop.loop != loop_kind::serial || is_tile_loop(loop, inside_reduction_);
    const dtype type = loop.var.type();
    expr lo = loop.min, end = loop.min + loop.extent;
    std::vector<expr> rest;
    for (const expr& term : conjuncts(guard.condition)) {
      const std::optional<bound> b = bound_of(term, loop.var);
      if (!b || (constant_only && !b->is_literal))
        rest.push_back(term);
      else if (b->is_last)
        end = min(end, b->value + integer(type, 1));
      else
        lo = max(lo, b->value);
    }
    if (lo.same(loop.min) && rest.size() == conjuncts(guard.condition).size()) return unchanged;
    const expr first = known.simplify(lo);
    expr extent = known.simplify(end - first);
    if (!known.prove(ge(extent, integer(type, 0))))
      extent = known.simplify(max(extent, integer(type, 0)));
    stmt body = rest.empty() ? guard.then_body : make_if(conjunction(rest), guard.then_body);
    return with_domain(loop, first, extent, std::move(body));
  }

  static bool mentions(const arith::linear& sum, const var& v) {
    for (const auto& [term, factor] : sum.terms)
      if (uses_var(term, v) || reads_memory(term)) return true;
    return false;
  }

  bool inside_reduction_ = false;
};

}  // namespace tilewright::pass::detail::trim

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function trim_loops(const ir::function& f) {
  ir::function out = f;
  out.body = detail::trim::trimmer{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
