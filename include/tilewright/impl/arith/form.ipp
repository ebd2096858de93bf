#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include <tilewright/arith/form.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/analysis/reads.hpp>

namespace tilewright::arith {
namespace detail {

inline bool infinite(std::int64_t v) {
  return v == bounds::negative_infinity || v == bounds::positive_infinity;
}

/// a + b where an infinite operand or an overflow gives `limit`, the infinity of this side.
inline std::int64_t add_or(std::int64_t a, std::int64_t b, std::int64_t limit) {
  std::int64_t r = 0;
  return infinite(a) || infinite(b) || __builtin_add_overflow(a, b, &r) ? limit : r;
}

/// a * b with infinities as in the extended integers; 0 * infinity is 0.
inline std::int64_t multiply_extended(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  std::int64_t r = 0;
  if (!infinite(a) && !infinite(b) && !__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) == (b < 0) ? bounds::positive_infinity : bounds::negative_infinity;
}

}  // namespace detail

TILEWRIGHT_INLINE bounds add(const bounds& a, const bounds& b) {
  return {detail::add_or(a.lo, b.lo, bounds::negative_infinity),
          detail::add_or(a.hi, b.hi, bounds::positive_infinity)};
}

TILEWRIGHT_INLINE bounds scale(const bounds& a, std::int64_t factor) {
  const std::int64_t x = detail::multiply_extended(a.lo, factor);
  const std::int64_t y = detail::multiply_extended(a.hi, factor);
  return factor >= 0 ? bounds{x, y} : bounds{y, x};
}

TILEWRIGHT_INLINE bounds multiply(const bounds& a, const bounds& b) {
  const std::int64_t corners[] = {
      detail::multiply_extended(a.lo, b.lo), detail::multiply_extended(a.lo, b.hi),
      detail::multiply_extended(a.hi, b.lo), detail::multiply_extended(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

TILEWRIGHT_INLINE bounds floor_divide(const bounds& a, std::int64_t positive) {
  const auto side = [&](std::int64_t v) {
    return detail::infinite(v) ? v : ir::floor_divide(v, positive);
  };
  return {side(a.lo), side(a.hi)};
}

TILEWRIGHT_INLINE bounds floor_modulo(const bounds& a, std::int64_t positive) {
  if (a.bounded()) {
    const std::int64_t q = ir::floor_divide(a.lo, positive);
    if (q == ir::floor_divide(a.hi, positive))
      return {ir::floor_modulo(a.lo, positive), ir::floor_modulo(a.hi, positive)};
  }
  return {0, positive - 1};
}

TILEWRIGHT_INLINE bounds bounds_of(dtype type) {
  if (is_float(type) || is_vector(type) || bits(type) == 64) return {};
  if (type == dtype::boolean) return {0, 1};
  const std::int64_t values = std::int64_t{1} << bits(type);
  return is_unsigned(type) ? bounds{0, values - 1} : bounds{-values / 2, values / 2 - 1};
}

TILEWRIGHT_INLINE bool may_wrap(const ir::expr& e) { return ir::reads_memory(e); }

TILEWRIGHT_INLINE void summands::push_back(summand s) {
  if (size_ < inline_size) {
    local_[size_++] = s;
    return;
  }
  if (size_ == inline_size) heap_.assign(local_, local_ + inline_size);
  heap_.push_back(s);
  ++size_;
}

TILEWRIGHT_INLINE void summands::erase(std::size_t i) {
  summand* const all = data();
  std::copy(all + i + 1, all + size_, all + i);
  --size_;
  if (size_ < inline_size) return;
  heap_.pop_back();
  if (size_ == inline_size) std::copy_n(heap_.data(), inline_size, local_);
}

TILEWRIGHT_INLINE int find_term(const form& f, const ir::expr& term) {
  const std::size_t n = f.terms.size();
  for (std::size_t i = 0; i < n; ++i)
    if (f.terms[i].term().same(term)) return static_cast<int>(i);
  if (ir::is_var(term)) return -1;
  for (std::size_t i = 0; i < n; ++i)
    if (same_value(f.terms[i].term(), term)) return static_cast<int>(i);
  return -1;
}

TILEWRIGHT_INLINE void add_constant(form& to, std::int64_t value) {
  if (__builtin_add_overflow(to.constant, value, &to.constant)) to.valid = false;
  if (to.constant == bounds::negative_infinity) to.valid = false;  // has no opposite
}

TILEWRIGHT_INLINE void add_term(form& to, const ir::expr& term, std::int64_t coefficient) {
  if (coefficient == 0) return;
  if (coefficient == bounds::negative_infinity) to.valid = false;
  const int found = find_term(to, term);
  if (found < 0) {
    to.terms.push_back({&term, coefficient});
    return;
  }
  const auto i = static_cast<std::size_t>(found);
  std::int64_t& c = to.terms[i].coefficient;
  if (__builtin_add_overflow(c, coefficient, &c) || c == bounds::negative_infinity)
    to.valid = false;
  if (c == 0) to.terms.erase(i);
}

TILEWRIGHT_INLINE void add(form& to, const form& f, std::int64_t factor) {
  to.valid = to.valid && f.valid;
  to.data = to.data || f.data;
  std::int64_t value = 0;
  for (const summand& s : f.terms) {
    if (__builtin_mul_overflow(s.coefficient, factor, &value)) to.valid = false;
    add_term(to, s.term(), value);
  }
  if (__builtin_mul_overflow(f.constant, factor, &value)) to.valid = false;
  add_constant(to, value);
}

TILEWRIGHT_INLINE void scale(form& f, std::int64_t factor) {
  if (factor == bounds::negative_infinity) f.valid = false;
  for (summand& s : f.terms)
    if (__builtin_mul_overflow(s.coefficient, factor, &s.coefficient)) f.valid = false;
  if (__builtin_mul_overflow(f.constant, factor, &f.constant)) f.valid = false;
}

TILEWRIGHT_INLINE form difference(const form& a, const form& b) {
  form out = a;
  add(out, b, -1);
  return out;
}

TILEWRIGHT_INLINE form single_term(const ir::expr& term) {
  form f;
  f.terms.push_back({&term, 1});
  f.data = may_wrap(term);
  return f;
}

TILEWRIGHT_INLINE std::int64_t common_factor(const form& f) {
  std::int64_t g = 0;
  for (const summand& s : f.terms) {
    if (s.coefficient == bounds::negative_infinity) return 1;  // of an invalid form
    g = std::gcd(g, s.coefficient);
    if (g == 1) break;
  }
  return g;
}

namespace detail {

inline void collect_plain(const ir::expr& e, std::int64_t factor, form& out) {
  using ir::op;
  std::int64_t value = 0;
  switch (e->op) {
    case op::integer:
      if (__builtin_mul_overflow(e->integer, factor, &value)) out.valid = false;
      return add_constant(out, value);
    case op::add:
      collect_plain(e->args[0], factor, out);
      return collect_plain(e->args[1], factor, out);
    case op::sub:
      if (factor == bounds::negative_infinity) out.valid = false;
      collect_plain(e->args[0], factor, out);
      return collect_plain(e->args[1], out.valid ? -factor : 0, out);
    case op::mul: {
      const bool right = ir::is_int(e->args[1]);
      if (!right && !ir::is_int(e->args[0])) break;
      if (__builtin_mul_overflow(e->args[right ? 1 : 0]->integer, factor, &value))
        out.valid = false;
      return collect_plain(e->args[right ? 0 : 1], value, out);
    }
    case op::cast: {
      // widening a single term keeps its value; a sum may have wrapped before it was widened
      const ir::expr& inner = e->args[0];
      if (e.type() != dtype::i64 || inner.type() != dtype::i32) break;
      const bool sum = inner->op == op::add || inner->op == op::sub || inner->op == op::mul;
      if (sum && may_wrap(inner)) break;
      return collect_plain(inner, factor, out);
    }
    default: break;
  }
  add_term(out, e, factor);
}

}  // namespace detail

TILEWRIGHT_INLINE form plain_form(const ir::expr& e) {
  form out;
  if (e->op == ir::op::var)
    out.terms.push_back({&e, 1});
  else
    detail::collect_plain(e, 1, out);
  return out;
}

namespace detail {

/// `f` takes the shape of an expression: pieces[0] +- pieces[1] +- ...; the constant, where there
/// is one, has index -1.
struct piece_order {
  std::array<std::int32_t, 24> pieces{};
  std::size_t count = 0;
  bool fits = true;

  explicit piece_order(const form& f) {
    const std::size_t n = f.terms.size();
    fits = n + 1 < pieces.size();
    if (!fits) return;
    for (std::size_t i = 0; i < n; ++i)
      if (f.terms[i].coefficient > 0) pieces[count++] = static_cast<std::int32_t>(i);
    const bool constant_leads = count == 0 && f.constant != 0;
    if (constant_leads) pieces[count++] = -1;
    for (std::size_t i = 0; i < n; ++i)
      if (f.terms[i].coefficient < 0) pieces[count++] = static_cast<std::int32_t>(i);
    if (f.constant != 0 && !constant_leads) pieces[count++] = -1;
  }
};

inline bool is_product_of(const ir::expr& e, const ir::expr& term, std::int64_t coefficient) {
  const ir::expr& core = coefficient == 1 ? e : e->op == ir::op::mul ? e->args[0] : e;
  if (coefficient != 1 && (e->op != ir::op::mul || !ir::is_int(e->args[1], coefficient)))
    return false;
  if (core.same(term)) return true;
  return core->op == ir::op::cast && core->args[0].same(term) && core.type() == dtype::i64 &&
         term.type() == dtype::i32;
}

/// True when `e` is what `expression(f, e.type())` would build.
inline bool is_expression_of(const ir::expr& e, const form& f, const piece_order& order) {
  const ir::expr* rest = &e;
  for (std::size_t i = order.count; i-- > 0;) {
    const std::int32_t piece = order.pieces[i];
    const bool is_constant = piece < 0;
    const std::int64_t value =
        is_constant ? f.constant : f.terms[static_cast<std::size_t>(piece)].coefficient;
    const ir::expr* part = rest;
    std::int64_t expected = value;
    if (i > 0) {
      const ir::op o = value < 0 ? ir::op::sub : ir::op::add;
      if ((*rest)->op != o || value == bounds::negative_infinity) return false;
      part = &(*rest)->args[1];
      rest = &(*rest)->args[0];
      if (value < 0) expected = -value;
    }
    const bool fits =
        is_constant
            ? ir::is_int(*part, expected)
            : is_product_of(*part, f.terms[static_cast<std::size_t>(piece)].term(), expected);
    if (!fits) return false;
  }
  return order.count > 0;
}

inline ir::expr build_piece(const form& f, std::int32_t piece, std::int64_t coefficient,
                            dtype type) {
  if (piece < 0) return ir::integer(type, coefficient);
  const ir::expr term = ir::cast(type, f.terms[static_cast<std::size_t>(piece)].term());
  return coefficient == 1 ? term : term * ir::integer(type, coefficient);
}

inline ir::expr shift_extremum(const ir::expr& t, std::int64_t by, dtype type) {
  if (t->op == ir::op::min || t->op == ir::op::max) {
    const ir::expr a = shift_extremum(t->args[0], by, type),
                   b = shift_extremum(t->args[1], by, type);
    return t->op == ir::op::min ? ir::min(a, b) : ir::max(a, b);
  }
  form arm = plain_form(t);
  add_constant(arm, by);
  return expression(arm, type);
}

/// Equal node by node, which is more than `same_value` asks.
inline bool same_shape(const ir::expr& a, const ir::expr& b) {
  if (a.same(b)) return true;
  if (a->op != b->op || a.type() != b.type() || a->args.size() != b->args.size() ||
      a->integer != b->integer || a->op == ir::op::var || a->op == ir::op::real ||
      a->op == ir::op::load || a->op == ir::op::call || a->op == ir::op::text ||
      a->op == ir::op::data || a->op == ir::op::let)
    return false;
  for (std::size_t i = 0; i < a->args.size(); ++i)
    if (!same_shape(a->args[i], b->args[i])) return false;
  return true;
}

/// The extremum that can take the constant in: min(a, b) + c as min(a + c, b + c). The analyzer
/// keeps constants outside of extrema, readers expect them inside. -1 when there is none.
inline int absorbing_extremum(const form& f) {
  if (f.constant == 0) return -1;
  for (std::size_t i = 0; i < f.terms.size(); ++i) {
    const ir::op o = f.terms[i].term()->op;
    const std::int64_t c = f.terms[i].coefficient;
    if ((o == ir::op::min || o == ir::op::max) && (c == 1 || c == -1) &&
        !may_wrap(f.terms[i].term()))
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace detail

TILEWRIGHT_INLINE ir::expr expression(const form& f, dtype type, const ir::expr& like) {
  if (f.terms.empty()) return ir::is_int(like, f.constant) ? like : ir::integer(type, f.constant);
  if (type == dtype::i32)  // a wide term may exceed i32 where the whole sum does not
    for (const summand& s : f.terms)
      if (s.term().type() == dtype::i64) return ir::cast(type, expression(f, dtype::i64));
  if (const int at = detail::absorbing_extremum(f); at >= 0) {
    form absorbed = f;
    summand& s = absorbed.terms[static_cast<std::size_t>(at)];
    const ir::expr shifted = detail::shift_extremum(s.term(), s.coefficient * f.constant, type);
    s.handle = &shifted;
    absorbed.constant = 0;
    const ir::expr out = expression(absorbed, type);
    return like && detail::same_shape(out, like) ? like : out;
  }
  const detail::piece_order order(f);
  if (!order.fits) {
    ir::expr out = ir::integer(type, f.constant);
    for (const summand& s : f.terms)
      out = out + ir::cast(type, s.term()) * ir::integer(type, s.coefficient);
    return out;
  }
  if (like && like.type() == type && detail::is_expression_of(like, f, order)) return like;
  ir::expr out;
  for (std::size_t i = 0; i < order.count; ++i) {
    const std::int32_t piece = order.pieces[i];
    const std::int64_t value =
        piece < 0 ? f.constant : f.terms[static_cast<std::size_t>(piece)].coefficient;
    if (!out)
      out = detail::build_piece(f, piece, value, type);
    else if (value < 0 && value != bounds::negative_infinity)
      out = out - detail::build_piece(f, piece, -value, type);
    else
      out = out + detail::build_piece(f, piece, value, type);
  }
  return out;
}

}  // namespace tilewright::arith
