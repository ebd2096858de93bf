// Quotients and remainders, rounded towards minus infinity.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/solver.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::arith {
namespace detail {

/// value == divisor * quotient + remainder. Only whole multiples leave the remainder, so that a
/// fused sum like (i * 7 + j) // 3 stays recognizable; with `smallest`, every coefficient is
/// reduced.
struct division {
  form quotient;
  form remainder;

  division(const form& f, std::int64_t divisor, bool smallest = false) {
    quotient.data = remainder.data = f.data;
    for (const summand& s : f.terms) {
      const std::int64_t q = s.coefficient / divisor, r = s.coefficient % divisor;
      const bool reduces = q != 0 && (r == 0 || smallest);
      if (reduces) quotient.terms.push_back({&s.term(), q});
      if (!reduces)
        remainder.terms.push_back(s);
      else if (r != 0)
        remainder.terms.push_back({&s.term(), r});
    }
    quotient.constant = ir::floor_divide(f.constant, divisor);
    remainder.constant = ir::floor_modulo(f.constant, divisor);
  }
};

inline bool has_large_coefficient(const form& f, std::int64_t divisor) {
  return support::any(f.terms, [&](const summand& s) {
    return s.coefficient > divisor || s.coefficient < -divisor;
  });
}

/// Proper divisors of `divisor` that also divide some coefficient of `f`, falling.
struct common_divisors {
  std::array<std::int64_t, 8> values{};
  std::size_t count = 0;

  common_divisors(const form& f, std::int64_t divisor) {
    for (const summand& s : f.terms) {
      const std::int64_t g = std::gcd(s.coefficient, divisor);
      if (g <= 1 || g == divisor || count == values.size()) continue;
      if (std::find(values.begin(), values.begin() + count, g) == values.begin() + count)
        values[count++] = g;
    }
    std::sort(values.begin(), values.begin() + count, std::greater<>());
  }
};

/// f == g * multiple + rest where g divides no coefficient of `rest`.
inline void separate(const form& f, std::int64_t g, form& multiple, form& rest) {
  multiple.data = rest.data = f.data;
  for (const summand& s : f.terms) {
    if (s.coefficient % g == 0)
      multiple.terms.push_back({&s.term(), s.coefficient / g});
    else
      rest.terms.push_back(s);
  }
  rest.constant = f.constant;
}

/// The values of `r` lie in one block [block * size, (block + 1) * size).
inline bool in_one_block(const bounds& r, std::int64_t size, std::int64_t& block) {
  if (!r.bounded()) return false;
  block = ir::floor_divide(r.lo, size);
  return block == ir::floor_divide(r.hi, size);
}

inline bool fits(const bounds& r, dtype type) {
  const bounds all = bounds_of(type);
  return r.bounded() && r.lo >= all.lo && r.hi <= all.hi;
}

inline dtype wider(dtype a, dtype b) { return a == dtype::i64 ? a : b; }

/// Positive literal divisor of a floordiv or floormod node, else 0.
inline std::int64_t divisor_of(const ir::expr& e, ir::op o) {
  if (e->op != o || !ir::is_int(e->args[1]) || e->args[1]->integer <= 0) return 0;
  return e->args[1]->integer;
}

}  // namespace detail

/// The quotient of a wide value stays wide, also where it was narrowed afterwards.
TILEWRIGHT_INLINE form solver::opaque_quotient(ir::op o, const form& f, std::int64_t divisor,
                                               dtype type) {
  for (const summand& s : f.terms) type = detail::wider(type, s.term().type());
  const ir::expr a = expression(f, type), b = ir::integer(type, divisor);
  form out;
  out.terms.push_back(
      {&keeper_.keep(o == ir::op::floordiv ? ir::floordiv(a, b) : ir::floormod(a, b)), 1});
  out.data = f.data;
  return out;
}

TILEWRIGHT_INLINE form solver::divide(const form& f, std::int64_t divisor, dtype type) {
  if (divisor == 1 || !f.valid) return f;
  detail::division parts(f, divisor);
  form &q = parts.quotient, &r = parts.remainder;
  if (r.terms.empty()) return q;
  const bounds limits = range(r);
  std::int64_t block = 0;
  if (detail::in_one_block(limits, divisor, block)) {
    add_constant(q, block);
    return q;
  }
  if (detail::has_large_coefficient(r, divisor)) {
    detail::division small(f, divisor, true);
    if (detail::in_one_block(range(small.remainder), divisor, block)) {
      add_constant(small.quotient, block);
      return small.quotient;
    }
  }
  const detail::common_divisors candidates(r, divisor);
  for (std::size_t i = 0; i < candidates.count; ++i) {
    const std::int64_t g = candidates.values[i];
    form multiple, rest;
    detail::separate(r, g, multiple, rest);
    if (!detail::in_one_block(range(rest), g, block)) continue;
    add_constant(multiple, block);
    add(q, divide(multiple, divisor / g, type));
    return q;
  }
  if (r.terms.size() == 1 && r.terms[0].coefficient == 1) {
    const ir::expr& t = r.terms[0].term();
    std::int64_t wide = 0, shift = 0;
    if (const std::int64_t a = detail::divisor_of(t, ir::op::floordiv);
        a > 0 && !__builtin_mul_overflow(a, divisor, &wide) && wide <= bounds_of(type).hi &&
        !__builtin_mul_overflow(a, r.constant, &shift)) {
      if (form inner; operand(t->args[0], f.data, inner)) {
        add_constant(inner, shift);
        add(q, divide(inner, wide, detail::wider(type, t.type())));
        return q;
      }
    }
  }
  // (c * (y % a) + rest) // k is (c * y + rest) // k % (c * a / k) where rest is below c, k divides
  // c * a, and c * y is not too large
  for (std::size_t i = 0; i < r.terms.size(); ++i) {
    const ir::expr& t = r.terms[i].term();
    const std::int64_t c = r.terms[i].coefficient;
    const std::int64_t a = detail::divisor_of(t, ir::op::floormod);
    std::int64_t product = 0;
    if (a == 0 || c < 1 || __builtin_mul_overflow(a, c, &product) || product % divisor != 0)
      continue;
    form whole = r, inner;
    whole.terms.erase(i);
    if (!detail::in_one_block(range(whole), c, block) || block != 0 ||
        !operand(t->args[0], f.data, inner))
      continue;
    const bool alone = c == 1 && whole.terms.empty() && whole.constant == 0;
    add(whole, inner, c);
    if (!alone && (f.data || !whole.valid || !detail::fits(range(whole), type))) continue;
    const dtype wide_type = detail::wider(type, t.type());
    add(q, modulo(divide(whole, divisor, wide_type), product / divisor, wide_type));
    return q;
  }
  add(q, opaque_quotient(ir::op::floordiv, r, divisor, type));
  return q;
}

TILEWRIGHT_INLINE form solver::modulo(const form& f, std::int64_t divisor, dtype type) {
  if (!f.valid) return f;
  form r = detail::division(f, divisor).remainder;
  if (divisor == 1) return {};
  // (c * (y % a)) % k is (c * y) % k where k divides c * a
  for (std::size_t i = 0; i < r.terms.size();) {
    const ir::expr& t = r.terms[i].term();
    const std::int64_t c = r.terms[i].coefficient;
    const std::int64_t a = detail::divisor_of(t, ir::op::floormod);
    std::int64_t product = 0;
    form inner;
    if (a == 0 || __builtin_mul_overflow(a, c, &product) || product % divisor != 0 ||
        !operand(t->args[0], f.data, inner)) {
      ++i;
      continue;
    }
    r.terms.erase(i);
    type = detail::wider(type, t.type());
    add(r, inner, c);
    r = detail::division(r, divisor).remainder;
    r.data = f.data;
    i = 0;
  }
  if (r.terms.empty()) return r;
  std::int64_t block = 0;
  if (detail::in_one_block(range(r), divisor, block)) {
    add_constant(r, -block * divisor);
    return r;
  }
  if (detail::has_large_coefficient(r, divisor)) {
    form small = detail::division(r, divisor, true).remainder;
    if (small.terms.empty() || detail::in_one_block(range(small), divisor, block)) {
      add_constant(small, small.terms.empty() ? 0 : -block * divisor);
      return small;
    }
  }
  const detail::common_divisors candidates(r, divisor);
  for (std::size_t i = 0; i < candidates.count; ++i) {
    const std::int64_t g = candidates.values[i];
    form multiple, rest;
    detail::separate(r, g, multiple, rest);
    if (!detail::in_one_block(range(rest), g, block)) continue;
    add_constant(multiple, block);
    form out = modulo(multiple, divisor / g, type);
    scale(out, g);
    add(out, rest);
    add_constant(out, -block * g);
    return out;
  }
  return opaque_quotient(ir::op::floormod, r, divisor, type);
}

TILEWRIGHT_INLINE form solver::quotient(const ir::expr& e) {
  using ir::op;
  const dtype type = e.type();
  form a = to_form(e->args[0]), b = to_form(e->args[1]);
  const bool is_division = e->op == op::floordiv || e->op == op::div;
  if (b.is_constant() && b.constant == 1) return is_division ? a : form{};
  bool trusted = exact(a, type) && exact(b, type);
  if (trusted && (e->op == op::div || e->op == op::mod))
    trusted = nonnegative(a) && range(b).lo >= 1;
  if (trusted && b.is_constant() && b.constant > 0) {
    form out = is_division ? divide(a, b.constant, type) : modulo(a, b.constant, type);
    if (out.valid) {
      const bool unchanged = out.terms.size() == 1 && same_value(out.terms[0].term(), e) &&
                             (e->op == op::floordiv || e->op == op::floormod);
      if (unchanged && out.terms[0].coefficient == 1 && out.constant == 0 &&
          expression(a, type, e->args[0]).same(e->args[0]))
        out.terms[0].handle = &e;
      return out;
    }
  } else if (trusted && !b.is_constant()) {
    return symbolic_quotient(e, a, b);
  }
  const ir::expr x = expression(a, type, e->args[0]), y = expression(b, type, e->args[1]);
  const bool same = x.same(e->args[0]) && y.same(e->args[1]);
  form out;
  out.terms.push_back({same ? &e : &keeper_.keep(ir::with_args(e, {x, y})), 1});
  out.data = a.data || b.data;
  if (out.terms[0].term()->op == op::integer) return to_form(out.terms[0].term());
  return out;
}

namespace detail {

/// Divides the product `e` by the factor `d`; null when `d` is none of its factors.
inline ir::expr without_factor(const ir::expr& e, const ir::expr& d) {
  if (e->op != ir::op::mul) return {};
  const ir::expr &a = e->args[0], &b = e->args[1];
  if (same_value(b, d)) return a;
  if (same_value(a, d)) return b;
  if (const ir::expr rest = without_factor(a, d)) return rest * b;
  if (const ir::expr rest = without_factor(b, d)) return a * rest;
  return {};
}

}  // namespace detail

TILEWRIGHT_INLINE form solver::symbolic_quotient(const ir::expr& e, const form& a, const form& b) {
  const dtype type = e.type();
  const bool is_division = e->op == ir::op::floordiv || e->op == ir::op::div;
  form q, r;
  q.data = r.data = a.data || b.data;
  if (b.terms.size() == 1 && b.constant == 0 && b.terms[0].coefficient == 1) {
    const ir::expr& d = b.terms[0].term();
    r.constant = a.constant;
    for (const summand& s : a.terms) {
      // a product of data may have wrapped, and then has no such factor
      const bool product = !may_wrap(s.term());
      if (same_value(s.term(), d))
        add_constant(q, s.coefficient);
      else if (ir::expr rest = product ? detail::without_factor(s.term(), d) : ir::expr())
        add_term(q, keeper_.keep(std::move(rest)), s.coefficient);
      else
        r.terms.push_back(s);
    }
  } else {
    r = a;
  }
  form above = difference(b, r);
  add_constant(above, -1);
  // 0 <= r < divisor also says that the divisor is positive
  if (q.valid && nonnegative(r) && nonnegative(above)) return is_division ? q : r;
  const ir::expr y = expression(b, type, e->args[1]);
  const ir::expr x = expression(r, type, e->args[0]);
  const bool same = x.same(e->args[0]) && y.same(e->args[1]);
  const bool floor = e->op == ir::op::floordiv || e->op == ir::op::floormod;
  if (r.is_constant() && r.constant == 0) return is_division ? q : r;
  const ir::expr& rest =
      same && floor ? e : keeper_.keep(is_division ? ir::floordiv(x, y) : ir::floormod(x, y));
  form out = is_division ? q : form{};
  out.data = q.data;
  add_term(out, rest, 1);
  return out;
}

/// c * (x % d) + c * (x // d * d) -> c * x.
TILEWRIGHT_INLINE bool solver::join_symbolic_remainder(form& f, std::size_t i) {
  const ir::expr& t = f.terms[i].term();
  for (std::size_t j = 0; j < f.terms.size(); ++j) {
    if (j == i || f.terms[j].coefficient != f.terms[i].coefficient) continue;
    const ir::expr whole = detail::without_factor(f.terms[j].term(), t->args[1]);
    if (!whole || whole->op != ir::op::floordiv || !same_value(whole->args[1], t->args[1]) ||
        !same_value(whole->args[0], t->args[0]))
      continue;
    const form x = plain_form(t->args[0]);
    const std::int64_t c = f.terms[i].coefficient;
    f.terms.erase(std::max(i, j));
    f.terms.erase(std::min(i, j));
    add(f, x, c);
    return true;
  }
  return false;
}

/// c * (x % k) + c * k * (x // k) -> c * x, and the same one level up: with (x // k) % m -> x % (k
/// * m).
TILEWRIGHT_INLINE bool solver::join_remainder(form& f, std::size_t i, dtype type) {
  const ir::expr& t = f.terms[i].term();
  const std::int64_t c = f.terms[i].coefficient;
  const std::int64_t k = detail::divisor_of(t, ir::op::floormod);
  std::int64_t wanted = 0;
  if (k == 0) return join_symbolic_remainder(f, i);
  if (__builtin_mul_overflow(c, k, &wanted)) return false;
  const ir::expr& x = t->args[0];
  const std::int64_t below = detail::divisor_of(x, ir::op::floordiv);
  // whether `y // m` is `x // k`
  const auto is_upper = [&](const ir::expr& u) {
    const std::int64_t m = detail::divisor_of(u, ir::op::floordiv);
    if (m == 0) return false;
    if (m == k && same_value(u->args[0], x)) return true;
    std::int64_t both = 0;
    return below > 0 && !__builtin_mul_overflow(below, k, &both) && m == both &&
           same_value(u->args[0], x->args[0]);
  };
  for (std::size_t j = 0; j < f.terms.size(); ++j) {
    if (j == i || f.terms[j].coefficient != wanted) continue;
    const ir::expr& u = f.terms[j].term();
    if (is_upper(u)) {
      f.terms.erase(std::max(i, j));
      f.terms.erase(std::min(i, j));
      add(f, plain_form(x), c);
      return true;
    }
    const std::int64_t m = detail::divisor_of(u, ir::op::floormod);
    std::int64_t both = 0;
    form value;
    if (m == 0 || !is_upper(u->args[0]) || __builtin_mul_overflow(k, m, &both) ||
        both > bounds_of(type).hi || !operand(x, f.data, value))
      continue;
    f.terms.erase(std::max(i, j));
    f.terms.erase(std::min(i, j));
    add(f, modulo(value, both, detail::wider(type, x.type())), c);
    return true;
  }
  return false;
}

/// c * x - c * k * (x // k) -> c * (x % k); x may be a sum, or itself a quotient.
TILEWRIGHT_INLINE bool solver::join_quotient(form& f, std::size_t i, dtype type) {
  const ir::expr& u = f.terms[i].term();
  const std::int64_t q = f.terms[i].coefficient;
  const std::int64_t m = detail::divisor_of(u, ir::op::floordiv);
  if (m == 0) return false;
  for (std::size_t j = 0; j < f.terms.size(); ++j) {
    const ir::expr& w = f.terms[j].term();
    const std::int64_t c = f.terms[j].coefficient;
    const std::int64_t l = detail::divisor_of(w, ir::op::floordiv);
    std::int64_t product = 0;
    if (j == i || l == 0 || m % l != 0 || __builtin_mul_overflow(c, m / l, &product) ||
        product != -q || !same_value(w->args[0], u->args[0]))
      continue;
    f.terms.erase(std::max(i, j));
    f.terms.erase(std::min(i, j));
    add(f, modulo(single_term(w), m / l, detail::wider(type, w.type())), c);
    return true;
  }
  if (q % m != 0) return false;
  const std::int64_t c = -(q / m);
  form x;
  if (!operand(u->args[0], f.data, x)) return false;
  for (const summand& s : x.terms) {
    const int at = find_term(f, s.term());
    std::int64_t product = 0;
    if (at < 0 || __builtin_mul_overflow(c, s.coefficient, &product) ||
        f.terms[static_cast<std::size_t>(at)].coefficient != product)
      return false;
  }
  f.terms.erase(i);
  add(f, x, -c);
  add(f, modulo(x, m, detail::wider(type, u.type())), c);
  return true;
}

TILEWRIGHT_INLINE void solver::recombine(form& f, dtype type) {
  const auto once = [&] {
    for (std::size_t i = 0; i < f.terms.size(); ++i) {
      const ir::op o = f.terms[i].term()->op;
      if (o == ir::op::floormod && join_remainder(f, i, type)) return true;
      if (o == ir::op::floordiv && join_quotient(f, i, type)) return true;
    }
    return false;
  };
  bool extrema = false;
  for (const summand& s : f.terms)
    extrema = extrema || s.term()->op == ir::op::min || s.term()->op == ir::op::max;
  while (f.terms.size() > 1 && once()) {
  }
  if (extrema) distribute_extremum(f, type);
}

}  // namespace tilewright::arith
