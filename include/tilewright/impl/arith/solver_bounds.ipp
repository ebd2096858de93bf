// Constant bounds and proofs of f >= 0.
#pragma once

#include <algorithm>
#include <numeric>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/solver.hpp>

namespace tilewright::arith {
namespace detail {

inline bounds hull(const bounds& a, const bounds& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

/// x // d for d >= 1. Contradictory facts can turn bounds around: an empty domain, where anything
/// holds.
inline bounds divide_bounds(const bounds& x, const bounds& d) {
  if (d.lo < 1 || d.hi < d.lo) return {};
  const bounds near = floor_divide(x, d.lo);
  if (d.hi == bounds::positive_infinity)  // towards 0, or towards -1 from below
    return hull(near, {x.lo < 0 ? -1 : 0, x.hi < 0 ? -1 : 0});
  return hull(near, floor_divide(x, d.hi));
}

inline bounds modulo_bounds(const bounds& x, const bounds& d) {
  if (d.lo < 1 || d.hi < d.lo) return {};
  if (d.is_point()) return floor_modulo(x, d.lo);
  if (x.lo >= 0 && x.hi < d.lo) return x;
  bounds out{0, d.hi == bounds::positive_infinity ? d.hi : d.hi - 1};
  if (x.lo >= 0) out.hi = std::min(out.hi, x.hi);
  return out;
}

/// Quotient and remainder rounded towards 0: the remainder has the sign of x.
inline bounds truncating_bounds(ir::op o, const bounds& x, const bounds& d, const bounds& all) {
  if (o == ir::op::div && d.lo >= 1 && d.hi >= d.lo)
    return {std::min<std::int64_t>(x.lo, 0), std::max<std::int64_t>(x.hi, 0)};
  if (o != ir::op::mod || !d.bounded()) return all;
  const std::int64_t most = std::max(d.hi - 1, -(d.lo + 1));
  return {x.lo >= 0 ? 0 : -most, x.hi <= 0 ? 0 : most};
}

/// Of shifts to the right by a literal, and of bits that a mask of known sign lets through; `arg(i)` bounds operand i.
template <class Bounds>
bounds bits_bounds(const ir::expr_node& call, const bounds& all, const Bounds& arg) {
  const auto literal = [&](std::size_t i) { return call.args[i]->op == ir::op::integer; };
  if (call.name == "shift_right" && literal(1)) {
    const std::int64_t by = call.args[1]->integer;
    return by >= 0 && by < 31 ? floor_divide(arg(0), std::int64_t{1} << by) : all;
  }
  if (call.name != "bitwise_and") return all;
  const bounds x = arg(0), y = arg(1);
  if (x.lo < 0 && y.lo < 0) return all;
  return {0, x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : std::min(x.hi, y.hi)};
}

/// Of integers that are no indices, what gives a value that operands have or bits of one: it never wraps.
inline bool stays_in_type(const ir::expr_node& e) {
  using ir::op;
  return is_integer(e.type) && bits(e.type) <= 32 &&
         (e.op == op::call || e.op == op::min || e.op == op::max || e.op == op::select);
}

}  // namespace detail

TILEWRIGHT_INLINE bounds solver::range(const ir::expr& e) const {
  using ir::op;
  if (e->op == op::integer) return {e->integer, e->integer};
  if (e->op == op::var) {
    const bounds* known = known_.find(e.get());
    return known ? *known : is_index(e.type()) ? bounds{} : bounds_of(e.type());
  }
  if (!is_index(e.type()) && !detail::stays_in_type(*e)) return bounds_of(e.type());
  const auto arg = [&](std::size_t i) { return range(e->args[i]); };
  bounds r;
  switch (e->op) {
    case op::add: r = add(arg(0), arg(1)); break;
    case op::sub: r = add(arg(0), scale(arg(1), -1)); break;
    case op::mul: r = multiply(arg(0), arg(1)); break;
    case op::floordiv:
    case op::floormod: {
      // a fact about a quotient may lead back to this very quotient
      const bool facts = !known_.facts_.empty() && nested_facts_ < 2 && !may_wrap(e->args[0]);
      nested_facts_ += facts;
      const bounds x = facts ? range(plain_form(e->args[0])) : arg(0);
      nested_facts_ -= facts;
      return e->op == op::floordiv ? detail::divide_bounds(x, arg(1))
                                   : detail::modulo_bounds(x, arg(1));
    }
    case op::div:
    case op::mod: {
      const bounds x = arg(0), d = arg(1);
      if (x.lo < 0 || d.lo < 1) return detail::truncating_bounds(e->op, x, d, bounds_of(e.type()));
      return e->op == op::div ? detail::divide_bounds(x, d) : detail::modulo_bounds(x, d);
    }
    case op::min: {
      const bounds x = arg(0), y = arg(1);
      return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    }
    case op::max: {
      const bounds x = arg(0), y = arg(1);
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    }
    case op::select:
    case op::if_then_else: return detail::hull(arg(1), arg(2));
    case op::cast: {
      const ir::expr& inner = e->args[0];
      const bounds all = bounds_of(e.type());
      if (is_float(inner.type()) || inner.type() == dtype::u64) return all;
      const bounds x = range(inner);
      return x.lo >= all.lo && x.hi <= all.hi ? x : all;
    }
    case op::call: return detail::bits_bounds(*e, bounds_of(e.type()), arg);
    default: return bounds_of(e.type());
  }
  const bounds all = bounds_of(e.type());
  const bool fits = r.bounded() && r.lo >= all.lo && r.hi <= all.hi;
  return fits || !may_wrap(e) ? r : all;
}

TILEWRIGHT_INLINE bounds solver::range(const form& f, bool with_facts) const {
  if (!f.valid) return {};
  bounds r{f.constant, f.constant};
  for (const summand& s : f.terms) r = add(r, scale(range(s.term()), s.coefficient));
  if (f.terms.size() > 1 && !r.is_point()) tighten(f, r);
  if (with_facts && !known_.facts_.empty() && !f.terms.empty()) {
    for (const auto& known : known_.facts_) {
      const form& fact = known->nonnegative;
      // f == fact * m + rest with fact >= 0
      const int at = find_term(f, fact.terms[0].term());
      if (at < 0) continue;
      const std::int64_t c = f.terms[static_cast<std::size_t>(at)].coefficient;
      const std::int64_t d = fact.terms[0].coefficient;
      if (c % d != 0) continue;
      form rest = f;
      add(rest, fact, -(c / d));
      if (!rest.valid || rest.terms.size() >= f.terms.size()) continue;
      const bounds of_rest = range(rest, false);
      if (c / d > 0)
        r.lo = std::max(r.lo, of_rest.lo);
      else
        r.hi = std::min(r.hi, of_rest.hi);
    }
  }
  return r;
}

/// c * (x // k) - c * (y // k) follows x - y, which is often known better than either.
TILEWRIGHT_INLINE void solver::tighten(const form& f, bounds& out) const {
  for (std::size_t i = 0; i < f.terms.size(); ++i) {
    const ir::expr& t = f.terms[i].term();
    const std::int64_t c = f.terms[i].coefficient;
    if (t->op != ir::op::floordiv || c <= 0 || !ir::is_int(t->args[1]) || t->args[1]->integer <= 0)
      continue;
    for (std::size_t j = 0; j < f.terms.size(); ++j) {
      const ir::expr& u = f.terms[j].term();
      if (f.terms[j].coefficient != -c || u->op != ir::op::floordiv ||
          !ir::is_int(u->args[1], t->args[1]->integer) || f.data)
        continue;
      form d = plain_form(t->args[0]);
      add(d, plain_form(u->args[0]), -1);
      const bounds x = range(d, false);
      const std::int64_t k = t->args[1]->integer;
      const bounds low = floor_divide(x, k), high = floor_divide(scale(x, -1), k);
      bounds pair = scale({low.lo, scale(high, -1).hi}, c);
      for (std::size_t l = 0; l < f.terms.size(); ++l)
        if (l != i && l != j)
          pair = add(pair, scale(range(f.terms[l].term()), f.terms[l].coefficient));
      pair = add(pair, {f.constant, f.constant});
      out = {std::max(out.lo, pair.lo), std::min(out.hi, pair.hi)};
    }
  }
}

TILEWRIGHT_INLINE bool solver::nonnegative(const form& f) {
  steps_ = 48;
  return nonnegative(f, 3);
}

TILEWRIGHT_INLINE bool solver::nonnegative(form f, int depth) {
  if (!f.valid) return false;
  if (f.terms.empty()) return f.constant >= 0;
  if (const std::int64_t g = common_factor(f); g > 1) {
    for (summand& s : f.terms) s.coefficient /= g;
    f.constant = ir::floor_divide(f.constant, g);
  }
  const bounds r = range(f);
  if (r.lo >= 0) return true;
  if (r.hi < 0 || depth == 0 || --steps_ < 0) return false;
  return by_terms(f, depth) || by_facts(f, depth);
}

TILEWRIGHT_INLINE bool solver::by_facts(const form& f, int depth) {
  for (const auto& known : known_.facts_) {
    const form& fact = known->nonnegative;
    for (const summand& s : fact.terms) {
      const int at = find_term(f, s.term());
      if (at < 0) continue;
      const std::int64_t c = f.terms[static_cast<std::size_t>(at)].coefficient;
      if ((c > 0) != (s.coefficient > 0)) continue;
      const std::int64_t g = std::gcd(c, s.coefficient);
      form rest = f;  // f * (s / g) - fact * (c / g), both factors positive
      const std::int64_t up = s.coefficient / g, down = c / g;
      scale(rest, up < 0 ? -up : up);
      add(rest, fact, down < 0 ? down : -down);
      if (nonnegative(std::move(rest), depth - 1)) return true;
    }
  }
  return false;
}

TILEWRIGHT_INLINE bool solver::by_terms(const form& f, int depth) {
  for (std::size_t i = 0; i < f.terms.size(); ++i) {
    const ir::expr& t = f.terms[i].term();
    const std::int64_t c = f.terms[i].coefficient;
    if (!is_index(t.type())) continue;
    const auto with = [&](const ir::expr& replacement) {
      form next = f, value;
      next.terms.erase(i);
      if (operand(replacement, f.data, value))
        add(next, value, c);
      else
        next.valid = false;
      return next;
    };
    switch (t->op) {
      case ir::op::min:
      case ir::op::max: {
        const bool both = (t->op == ir::op::min) == (c > 0);
        const bool first = nonnegative(with(t->args[0]), depth - 1);
        if (both ? first && nonnegative(with(t->args[1]), depth - 1)
                 : first || nonnegative(with(t->args[1]), depth - 1))
          return true;
        break;
      }
      case ir::op::select:
      case ir::op::if_then_else:
        if (nonnegative(with(t->args[1]), depth - 1) && nonnegative(with(t->args[2]), depth - 1))
          return true;
        break;
      case ir::op::floordiv: {
        // x - (k - 1) <= k * (x // k) <= x, and f >= 0 as soon as k * f >= -(k - 1)
        if (!ir::is_int(t->args[1]) || t->args[1]->integer <= 1) break;
        const std::int64_t k = t->args[1]->integer;
        form next = f;
        next.terms.erase(i);
        scale(next, k);
        form x;
        if (!operand(t->args[0], f.data, x)) break;
        if (c > 0) add_constant(x, -(k - 1));
        add(next, x, c);
        add_constant(next, k - 1);
        if (nonnegative(std::move(next), depth - 1)) return true;
        break;
      }
      case ir::op::floormod:
        // x % k <= x for x >= 0
        if (c < 0 && ir::is_int(t->args[1]) && t->args[1]->integer > 0 &&
            range(t->args[0]).lo >= 0 && nonnegative(with(t->args[0]), depth - 1))
          return true;
        break;
      default: break;
    }
  }
  return false;
}

}  // namespace tilewright::arith
