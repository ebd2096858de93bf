#pragma once

#include <algorithm>

#include <tilewright/arith/interval.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/relaxer.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::arith {
namespace detail {

inline form unbounded() {
  form f;
  f.valid = false;
  return f;
}

inline form constant_form(std::int64_t value) {
  form f;
  f.constant = value;
  return f;
}

inline form negated(form f) {
  scale(f, -1);
  return f;
}

}  // namespace detail

TILEWRIGHT_INLINE form relaxer::lower(const form& f) {
  return bounded_by_facts(f, eliminate(f, true), true);
}

TILEWRIGHT_INLINE form relaxer::upper(const form& f) {
  return bounded_by_facts(f, eliminate(f, false), false);
}

TILEWRIGHT_INLINE bool relaxer::depends(const ir::expr& e) const {
  if (e->op == ir::op::var) {
    for (const auto& loop : loops_)
      if (loop.first.same(e)) return true;
    return false;
  }
  for (const ir::expr& arg : e->args)
    if (depends(arg)) return true;
  return false;
}

TILEWRIGHT_INLINE std::size_t relaxer::count_dependent(const form& f) const {
  return static_cast<std::size_t>(std::count_if(
      f.terms.begin(), f.terms.end(), [&](const summand& s) { return depends(s.term()); }));
}

/// First or last value of a loop variable; the analyzer may know a tighter number than the loop
/// says.
TILEWRIGHT_INLINE form relaxer::end_of_range(std::size_t loop, bool low) {
  const auto& [v, r] = loops_[loop];
  form end;
  if (ir::is_int(r.min) && (low || ir::is_int(r.extent))) {
    end.constant = r.min->integer;
    if (!low) add_constant(end, r.extent->integer - 1);
    const bounds known = solver_.range(v);
    end.constant = low ? std::max(end.constant, known.lo) : std::min(end.constant, known.hi);
    return end;
  }
  end = solver_.to_form(r.min);
  if (!low) {
    add(end, solver_.to_form(r.extent));
    add_constant(end, -1);
  }
  if (!end.is_constant()) return end;
  const bounds known = solver_.range(v);
  end.constant = low ? std::max(end.constant, known.lo) : std::min(end.constant, known.hi);
  return end;
}

TILEWRIGHT_INLINE bool relaxer::simple(const form& f, form& lo, form& hi) {
  if (!f.valid || !known_.facts().empty()) return false;
  lo.constant = hi.constant = f.constant;
  lo.data = hi.data = f.data;
  for (const summand& s : f.terms) {
    if (!ir::is_var(s.term())) {
      if (depends(s.term())) return false;
      lo.terms.push_back(s);
      hi.terms.push_back(s);
      continue;
    }
    const auto at =
        support::find(loops_, [&](const auto& loop) { return loop.first.same(s.term()); });
    if (at == loops_.end()) {
      lo.terms.push_back(s);
      hi.terms.push_back(s);
      continue;
    }
    const ir::range& r = at->second;
    if (!ir::is_int(r.min) || !ir::is_int(r.extent)) return false;
    const bounds known = solver_.range(s.term());
    bounds ends = {r.min->integer, r.min->integer + r.extent->integer - 1};
    ends = scale({std::max(ends.lo, known.lo), std::min(ends.hi, known.hi)}, s.coefficient);
    if (!ends.bounded()) return false;
    add_constant(lo, ends.lo);
    add_constant(hi, ends.hi);
  }
  return lo.valid && hi.valid;
}

/// From the innermost loop outwards: terms that contain the variable otherwise than linearly are
/// replaced by their own bound, then the variable by the end of its range.
TILEWRIGHT_INLINE form relaxer::eliminate(form f, bool low) {
  if (!f.valid) return f;
  for (std::size_t i = 0; i < f.terms.size();) {
    const ir::expr& t = f.terms[i].term();
    if (ir::is_var(t) || !depends(t)) {
      ++i;
      continue;
    }
    const std::int64_t c = f.terms[i].coefficient;
    const form bound = bound_of_term(t, low == (c > 0));
    if (!bound.valid) return bound;
    f.terms.erase(i);
    add(f, bound, c);
    i = 0;
  }
  for (std::size_t loop = loops_.size(); loop-- > 0;) {
    const int at = find_term(f, loops_[loop].first);
    if (at < 0) continue;
    const std::int64_t c = f.terms[static_cast<std::size_t>(at)].coefficient;
    const form end = end_of_range(loop, low == (c > 0));
    f.terms.erase(static_cast<std::size_t>(at));
    add(f, end, c);
    if (end.is_constant()) continue;
    solver_.recombine(f, loops_[loop].first.type());
    for (const summand& s : f.terms)
      if (!ir::is_var(s.term()) && depends(s.term())) return eliminate(std::move(f), low);
  }
  return f;
}

TILEWRIGHT_INLINE form relaxer::tighter(const form& a, const form& b, bool low, dtype type) {
  if (!a.valid) return b;
  if (!b.valid) return a;
  const form d = difference(a, b);
  if (d.is_constant()) return (d.constant > 0) == low ? a : b;
  const ir::expr x = expression(a, type), y = expression(b, type);
  return solver_.to_form(solver_.keep(low ? ir::max(x, y) : ir::min(x, y)));
}

/// f = fact * m + rest with fact >= 0: rest bounds f, and often has fewer running variables.
TILEWRIGHT_INLINE form relaxer::bounded_by_facts(const form& f, form found, bool low) {
  const std::size_t running = f.valid && !known_.facts().empty() ? count_dependent(f) : 0;
  if (running == 0) return found;
  for (const auto& known : known_.facts()) {
    const form& fact = known->nonnegative;
    for (const summand& s : fact.terms) {
      const int at = depends(s.term()) ? find_term(f, s.term()) : -1;
      if (at < 0) continue;
      const std::int64_t c = f.terms[static_cast<std::size_t>(at)].coefficient;
      if (c % s.coefficient != 0 || (c / s.coefficient > 0) != low) continue;
      form rest = f;
      add(rest, fact, -(c / s.coefficient));
      if (!rest.valid || count_dependent(rest) >= running) continue;
      const dtype type = f.terms[0].term().type();
      found = tighter(found, eliminate(std::move(rest), low), low, type);
      break;
    }
  }
  return found;
}

TILEWRIGHT_INLINE form relaxer::bound_by_range(const ir::expr& t, bool low) const {
  const bounds r = solver_.range(t), all = bounds_of(t.type());
  const bool limited = low ? r.lo > all.lo : r.hi < all.hi;
  return limited ? detail::constant_form(low ? r.lo : r.hi) : detail::unbounded();
}

TILEWRIGHT_INLINE form relaxer::bound_of_term(const ir::expr& t, bool low) {
  using ir::op;
  const auto part = [&](std::size_t i, bool side) {
    return eliminate(plain_form(t->args[i]), side);
  };
  const bool positive_divisor = (t->op == op::floordiv || t->op == op::floormod) &&
                                ir::is_int(t->args[1]) && t->args[1]->integer > 0;
  if (!is_index(t.type()) || may_wrap(t)) return bound_by_range(t, low);
  switch (t->op) {
    case op::floordiv:
      if (!positive_divisor) break;
      if (const form x = part(0, low); x.valid)
        return solver_.divide(x, t->args[1]->integer, t.type());
      break;
    case op::floormod:
      if (positive_divisor) return bound_of_remainder(t, low);
      break;
    case op::min:
    case op::max: {
      const form a = part(0, low), b = part(1, low);
      // a side of a minimum is bounded from above by either arm
      if ((t->op == op::min) != low) {
        if (!a.valid || !b.valid) return a.valid ? a : b;
      }
      if (a.valid && b.valid) return tighter(a, b, t->op == op::max, t.type());
      break;
    }
    case op::select:
    case op::if_then_else: {
      const form a = part(1, low), b = part(2, low);
      if (a.valid && b.valid) return tighter(a, b, !low, t.type());
      break;
    }
    case op::mul: return bound_of_product(t, low);
    default: break;
  }
  return bound_by_range(t, low);
}

TILEWRIGHT_INLINE form relaxer::bound_of_remainder(const ir::expr& t, bool low) {
  const std::int64_t k = t->args[1]->integer;
  const form x = plain_form(t->args[0]);
  const form least = eliminate(x, true), most = eliminate(x, false);
  if (least.valid && most.valid) {
    const form d =
        difference(solver_.divide(least, k, t.type()), solver_.divide(most, k, t.type()));
    if (d.is_constant() && d.constant == 0) return solver_.modulo(low ? least : most, k, t.type());
    if (!low && most.is_constant() && least.is_constant() && least.constant >= 0)
      return detail::constant_form(std::min(k - 1, most.constant));
  }
  return detail::constant_form(low ? 0 : k - 1);
}

TILEWRIGHT_INLINE form relaxer::bound_of_product(const ir::expr& t, bool low) {
  for (std::size_t i = 0; i < 2; ++i) {
    const ir::expr& fixed = t->args[i];
    if (depends(fixed)) continue;
    const bounds sign = solver_.range(fixed);
    if (sign.lo < 0 && sign.hi > 0) continue;
    const form end = eliminate(plain_form(t->args[1 - i]), low == (sign.lo >= 0));
    if (!end.valid) continue;
    return solver_.to_form(solver_.keep(expression(end, t.type()) * ir::cast(t.type(), fixed)));
  }
  return bound_by_range(t, low);
}

TILEWRIGHT_INLINE interval bound_over(const ir::expr& e, const loop_domains& relaxed,
                                      const analyzer& known) {
  analyzer inner = known;
  inner.bind_new(relaxed);
  relaxer r(inner, relaxed);
  const form f = r.rewriting().to_form(e);
  if (!r.rewriting().exact(f, e.type())) {
    if (f.valid && !r.depends(e)) return {e, e};
    const bounds all = bounds_of(e.type());
    if (!all.bounded()) return {};
    return {ir::integer(e.type(), all.lo), ir::integer(e.type(), all.hi)};
  }
  const form lo = r.lower(f), hi = r.upper(f);
  // a number that the type does not hold would wrap, and says nothing as a bound
  const bounds all = bounds_of(e.type());
  const auto says = [&](const form& side) {
    return side.valid && side.constant >= all.lo && side.constant <= all.hi;
  };
  interval out;
  if (says(lo)) out.lo = expression(lo, e.type(), e);
  if (says(hi)) out.hi = expression(hi, e.type(), e);
  return out;
}

}  // namespace tilewright::arith
