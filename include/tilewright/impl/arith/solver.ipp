// Sums: from an expression of index type to its canonical form.
#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/solver.hpp>

namespace tilewright::arith {
namespace detail {

/// `e` as a factor of an operation of `type`.
inline ir::expr product(dtype type, const ir::expr& a, const ir::expr& b) {
  return ir::cast(type, a) * ir::cast(type, b);
}

}  // namespace detail

TILEWRIGHT_INLINE form solver::to_form(const ir::expr& e) {
  form out;
  switch (e->op) {
    case ir::op::integer:
      if (e->integer == bounds::negative_infinity) break;
      out.constant = e->integer;
      return out;
    case ir::op::var: collect(e, 1, out); return out;
    case ir::op::floordiv:
    case ir::op::floormod:
    case ir::op::div:
    case ir::op::mod: return quotient(e);
    default: break;
  }
  collect(e, 1, out);
  if (!out.valid) {
    // a coefficient left 64 bits: keep the expression as one term and claim nothing about it
    form kept = single_term(keeper_.keep(children(e)));
    kept.data = true;
    return kept;
  }
  if (out.terms.size() > 1) recombine(out, e.type());
  return out;
}

TILEWRIGHT_INLINE void solver::collect(const ir::expr& e, std::int64_t factor, form& out) {
  using ir::op;
  switch (e->op) {
    case op::integer: {
      std::int64_t value = 0;
      if (__builtin_mul_overflow(e->integer, factor, &value)) out.valid = false;
      return add_constant(out, value);
    }
    case op::var: {
      const bounds* known = known_.find(e.get());
      if (!known || !known->is_point()) return add_term(out, e, factor);
      std::int64_t value = 0;
      if (__builtin_mul_overflow(known->lo, factor, &value)) out.valid = false;
      return add_constant(out, value);
    }
    case op::add: collect(e->args[0], factor, out); return collect(e->args[1], factor, out);
    case op::sub:
      collect(e->args[0], factor, out);
      if (factor == bounds::negative_infinity) out.valid = false;
      return collect(e->args[1], out.valid ? -factor : 0, out);
    case op::mul: return collect_product(e, factor, out);
    case op::cast: return collect_cast(e, factor, out);
    case op::floordiv:
    case op::floormod:
    case op::div:
    case op::mod: return add(out, quotient(e), factor);
    case op::min:
    case op::max: return add(out, extremum(e), factor);
    case op::select:
    case op::if_then_else: return add(out, chosen(e), factor);
    default: return collect_opaque(e, factor, out);
  }
}

TILEWRIGHT_INLINE void solver::collect_opaque(const ir::expr& e, std::int64_t factor, form& out) {
  const ir::expr& kept = kept_children(e);
  out.data = out.data || may_wrap(kept);
  add_term(out, kept, factor);
}

TILEWRIGHT_INLINE void solver::collect_product(const ir::expr& e, std::int64_t factor, form& out) {
  const ir::expr &a = e->args[0], &b = e->args[1];
  const bool right = ir::is_int(b);
  if (right || ir::is_int(a)) {
    std::int64_t value = 0;
    if (__builtin_mul_overflow(right ? b->integer : a->integer, factor, &value)) out.valid = false;
    return collect(right ? a : b, value, out);
  }
  form x = to_form(a), y = to_form(b);
  const auto times = [&](const form& f, std::int64_t constant) {
    std::int64_t value = 0;
    if (__builtin_mul_overflow(constant, factor, &value)) out.valid = false;
    add(out, f, value);
  };
  if (x.terms.empty() || y.terms.empty())
    return x.terms.empty() ? times(y, x.constant) : times(x, y.constant);
  constexpr std::size_t most_products = 12;
  if (x.terms.size() * y.terms.size() > most_products) {
    out.data = out.data || x.data || y.data;
    const ir::expr &u = expression(x, e.type(), a), &v = expression(y, e.type(), b);
    return add_term(out, keeper_.keep(detail::product(e.type(), u, v)), factor);
  }
  form all;
  for (const summand& s : x.terms) {
    for (const summand& t : y.terms) {
      std::int64_t value = 0;
      if (__builtin_mul_overflow(s.coefficient, t.coefficient, &value)) all.valid = false;
      const bool as_it_was = s.term().same(a) && t.term().same(b);
      add_term(all, as_it_was ? e : keeper_.keep(detail::product(e.type(), s.term(), t.term())),
               value);
    }
  }
  form linear_part;
  linear_part.terms = x.terms;
  add(all, linear_part, y.constant);
  linear_part.terms = y.terms;
  add(all, linear_part, x.constant);
  std::int64_t value = 0;
  if (__builtin_mul_overflow(x.constant, y.constant, &value)) all.valid = false;
  add_constant(all, value);
  all.data = x.data || y.data;
  add(out, all, factor);
}

TILEWRIGHT_INLINE void solver::collect_cast(const ir::expr& e, std::int64_t factor, form& out) {
  const ir::expr& inner = e->args[0];
  if (!is_index(inner.type())) return collect_opaque(e, factor, out);
  const form f = to_form(inner);
  const bool widens = e.type() == dtype::i64;
  const bounds all = bounds_of(dtype::i32);
  bool transparent = widens && !f.data;
  if (!transparent) {
    const bounds r = range(f);
    transparent = (r.lo >= all.lo && r.hi <= all.hi) ||
                  (widens && f.terms.size() == 1 && f.constant == 0 && f.terms[0].coefficient == 1);
  }
  if (transparent) return add(out, f, factor);
  out.data = out.data || f.data;
  const ir::expr kept = expression(f, inner.type(), inner);
  add_term(out, kept.same(inner) ? e : keeper_.keep(ir::cast(e.type(), kept)), factor);
}

TILEWRIGHT_INLINE bool solver::exact(const form& f, dtype type) const {
  if (!f.valid) return false;
  if (!f.data) return true;
  const bounds r = range(f);
  const bounds all = bounds_of(type);
  return r.bounded() && r.lo >= all.lo && r.hi <= all.hi;
}

TILEWRIGHT_INLINE bool solver::operand(const ir::expr& e, bool data, form& out) const {
  out = plain_form(e);
  out.data = data;
  return exact(out, e.type());
}

TILEWRIGHT_INLINE form solver::extremum(const ir::expr& e) {
  const bool is_min = e->op == ir::op::min;
  // the arms of nested minima, each with the expression it came from
  std::vector<std::pair<form, ir::expr>> arms;
  bool trusted = true;
  const auto gather = [&](const auto& self, const ir::expr& x) -> void {
    if (x->op == e->op && x.type() == e.type()) {
      self(self, x->args[0]);
      self(self, x->args[1]);
      return;
    }
    form f = to_form(x);
    trusted = trusted && exact(f, e.type());
    arms.emplace_back(std::move(f), x);
  };
  gather(gather, e->args[0]);
  gather(gather, e->args[1]);
  // data that may wrap cannot be compared by its form, only rebuilt from it
  for (std::size_t i = 0; i < arms.size() && trusted; ++i) {
    for (std::size_t j = 0; j < arms.size();) {
      const bool larger = i != j && nonnegative(is_min ? difference(arms[j].first, arms[i].first)
                                                       : difference(arms[i].first, arms[j].first));
      if (larger) {
        arms.erase(arms.begin() + static_cast<std::ptrdiff_t>(j));
        if (j < i) --i;
      } else {
        ++j;
      }
    }
  }
  if (arms.size() == 1) return std::move(arms[0].first);
  // min(i + 1, 8) is min(i, 7) + 1, so that equal extrema with different offsets cancel
  std::int64_t shift = bounds::positive_infinity;
  bool data = false;
  for (const auto& arm : arms) {
    if (!arm.first.terms.empty()) shift = std::min(shift, arm.first.constant);
    data = data || arm.first.data;
  }
  for (const auto& arm : arms) {
    std::int64_t moved = 0;
    if (data || __builtin_sub_overflow(arm.first.constant, shift, &moved) ||
        moved == bounds::negative_infinity)
      shift = 0;
  }
  if (shift != 0)
    for (auto& arm : arms) add_constant(arm.first, -shift);
  ir::expr out;
  for (auto& [f, x] : arms) {
    const ir::expr arm = expression(f, e.type(), x);
    if (!out)
      out = arm;
    else if (arms.size() == 2 && out.same(e->args[0]) && arm.same(e->args[1]))
      out = e;
    else
      out = is_min ? ir::min(out, arm) : ir::max(out, arm);
  }
  form f;
  f.terms.push_back({out.same(e) ? &e : &keeper_.keep(std::move(out)), 1});
  f.constant = shift;
  f.data = data;
  return f;
}

TILEWRIGHT_INLINE form solver::chosen(const ir::expr& e) {
  const ir::expr condition = simplify(e->args[0]);
  if (ir::is_int(condition)) return to_form(e->args[condition->integer != 0 ? 1 : 2]);
  form yes = to_form(e->args[1]), no = to_form(e->args[2]);
  const form d = difference(yes, no);
  if (d.is_constant() && d.constant == 0) return yes;
  const ir::expr a = expression(yes, e.type(), e->args[1]),
                 b = expression(no, e.type(), e->args[2]);
  const bool same = condition.same(e->args[0]) && a.same(e->args[1]) && b.same(e->args[2]);
  return single_term(same ? e : keeper_.keep(ir::with_args(e, {condition, a, b})));
}

TILEWRIGHT_INLINE void solver::distribute_extremum(form& f, dtype type) {
  for (std::size_t i = 0; i < f.terms.size(); ++i) {
    const ir::expr& t = f.terms[i].term();
    const std::int64_t c = f.terms[i].coefficient;
    if ((t->op != ir::op::min && t->op != ir::op::max) || (c != 1 && c != -1)) continue;
    form x, y, moved;
    if (!operand(t->args[0], f.data, x) || !operand(t->args[1], f.data, y)) continue;
    for (const summand& s : f.terms) {
      if (s.term().same(t)) continue;
      const int in_x = find_term(x, s.term()), in_y = find_term(y, s.term());
      const auto cancels = [&](const form& arm, int at) {
        return at >= 0 && arm.terms[static_cast<std::size_t>(at)].coefficient == -c * s.coefficient;
      };
      if (cancels(x, in_x) || cancels(y, in_y)) add_term(moved, s.term(), s.coefficient);
    }
    if (moved.terms.empty()) continue;
    add(x, moved, c);
    add(y, moved, c);
    if (!exact(x, type) || !exact(y, type)) continue;
    add_term(f, t, -c);
    add(f, moved, -1);
    const ir::expr a = expression(x, type), b = expression(y, type);
    add(f, extremum(keeper_.keep(t->op == ir::op::min ? ir::min(a, b) : ir::max(a, b))), c);
    return;
  }
}

}  // namespace tilewright::arith
