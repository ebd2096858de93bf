// Exponentials and logarithms. Coefficients are minimax fits made for this file, in the form their
// comments give.
#pragma once

#include <tilewright/impl/backend/llvm/pair.hpp>

namespace tilewright::backend::llvm::detail::math {

/// exp(r + error) - 1 - r for |r| <= ln(2) / 2 and a tiny error: r^2 q(r) + error.
inline num exp_beyond_line(const num& r, const num& error) {
  static constexpr std::array<double, 5> narrow{0x1.000000p-1, 0x1.55548cp-3, 0x1.55545ep-5,
                                                0x1.123cecp-7, 0x1.6db3a8p-10};
  static constexpr std::array<double, 10> wide{
      0x1.000000000000cp-1,  0x1.555555555555fp-3,  0x1.555555554fda1p-5,  0x1.111111110dd71p-7,
      0x1.6c16c186339e5p-10, 0x1.a01a01b8b3275p-13, 0x1.a019951ab0412p-16, 0x1.71dde439fb870p-19,
      0x1.28b1a4abe352bp-22, 0x1.af7f152e5fa99p-26};
  const num q = r.wide ? polynomial(r, wide) : polynomial(r, narrow);
  return madd(q, r * r, error);
}

inline num exp_reduced(const num& r, const num& error) {
  return r + exp_beyond_line(r, error) + 1.0;
}

/// Upper parts of ln(2) have so many trailing zeros that their product with an exponent is exact.
inline double ln2_upper(bool wide) { return wide ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1; }
inline double ln2_lower(bool wide) { return wide ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cp-20; }

/// x = n ln(2) + r + error, n an integer as a float and in `bits`, |r| <= ln(2) / 2.
struct exp_argument {
  num n;
  value_ref bits;
  num r, error;
};

inline exp_argument reduce_exp(const num& x) {
  value_ref n = nullptr;
  const num whole = nearest(x * 0x1.71547652b82fep0, n);
  // The first step is exact; what the second one rounds away comes back as `error`.
  const num start = madd(whole, -ln2_upper(x.wide), x);
  const num r = madd(whole, -ln2_lower(x.wide), start);
  const num error = madd(whole, -ln2_lower(x.wide), start - r);
  return {whole, n, r, error};
}

/// exp(x), or exp(x + *tail) for a tail that is a rounding error of x.
inline num exp(const num& x, const num* tail = nullptr) {
  const double lowest = x.wide ? -746.0 : -104.0;  // of less, the exponential is 0
  const num c = clamp(x, lowest, x.wide ? 710.0 : 89.0);
  const value_ref zero = test(real_predicate::olt, x, lowest);
  const exp_argument a = reduce_exp(c);
  if (!tail) return scale(exp_reduced(a.r, a.error), a.n, a.bits, zero);
  const num whole_r = a.r + *tail;
  return scale(exp_reduced(whole_r, a.error + ((a.r - whole_r) + *tail)), a.n, a.bits, zero);
}

/// exp(x) - 1 = 2^n r + (2^n - 1) + 2^n (exp(r) - 1 - r), at half its size, so that no 2^n leaves the range.
/// The first product is exact, and of the sum only what the result has no digits for is rounded.
inline num expm1(const num& x) {
  // below the lower limit the result is -1, beyond the upper one infinite
  const exp_argument a = reduce_exp(clamp(x, x.wide ? -40.0 : -20.0, x.wide ? 710.0 : 89.0));
  const num half = power_of_two(x, x.b->binary(opcode::sub, a.bits, x.integer(1)));
  const num line = madd(half, a.r, half - 0.5);
  const num out = (line + half * exp_beyond_line(a.r, a.error)) * 2.0;
  // half of a subnormal number loses a digit, and a sum the sign of zero
  const value_ref tiny =
      test(real_predicate::olt, x.unary("llvm.fabs"), x.wide ? 0x1p-54 : 0x1p-25);
  return choose(tiny, x, out);
}

inline num exp2(const num& x) {
  const double lowest = x.wide ? -1080.0 : -151.0;
  const num c = clamp(x, lowest, x.wide ? 1025.0 : 129.0);
  const value_ref zero = test(real_predicate::olt, x, lowest);
  value_ref n = nullptr;
  const num whole = nearest(c, n);
  const num rest = c - whole, ln2 = x.number(x.wide ? 0x1.62e42fefa39efp-1 : 0x1.62e430p-1),
            r = rest * ln2;
  const num error =
      madd(rest, x.wide ? 0x1.abc9e3b39803fp-56 : -0x1.05c610p-29, madd(rest, ln2, -r));
  return scale(exp_reduced(r, error), whole, n, zero);
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for positive finite x.
struct parts {
  num m, e;
};

/// The same of a normal number, e also in the place of the exponent field.
struct normal_parts {
  num m, e;
  value_ref field;

  /// 2^(1 - e), which is a number for every e, as 2^-e is not.
  num twice_inverse() const {
    return m.from_raw(m.b->binary(opcode::sub, m.number(2.0).raw(), field));
  }
};

inline normal_parts split_normal(const num& x) {
  const builder& b = *x.b;
  const int mantissa = x.wide ? 52 : 23;
  // Counted from sqrt(1/2), the exponent field is that of the fraction's binade.
  const value_ref root = x.integer(x.wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  const value_ref distance = b.binary(opcode::sub, x.raw(), root);
  const value_ref exponent = b.binary(opcode::ashr, distance, x.integer(mantissa));
  const value_ref cut = b.binary(opcode::shl, exponent, x.integer(mantissa));
  const num m = x.from_raw(b.binary(opcode::sub, x.raw(), cut));
  return {m, x.with(b.convert(opcode::sitofp, exponent, x.type())), cut};
}

inline parts split(const num& x) {
  const double smallest = x.wide ? 0x1p-1022 : 0x1p-126;
  const value_ref tiny = test(real_predicate::olt, x, smallest);
  const normal_parts p = split_normal(choose(tiny, x * (x.wide ? 0x1p54 : 0x1p25), x));
  return {p.m, choose(tiny, p.e - (x.wide ? 54.0 : 25.0), p.e)};
}

/// log(m) as head + tail, head exact enough that e * ln(2) may be added between them.
struct log_parts {
  num head, tail;
};

/// L of f64 in log((1 + s) / (1 - s)) = 2 s + s z L(z), z = s^2, for |s| <= (sqrt(2) - 1)^2.
inline num log_of_ratio(const num& z) {
  static constexpr std::array<double, 7> c{
      0x1.5555555555593p-1, 0x1.999999997f93dp-2, 0x1.2492494234398p-2, 0x1.c71c51cf2beb2p-3,
      0x1.74664ba35b661p-3, 0x1.39a05dd3d8496p-3, 0x1.2f13e8fd5825ep-3};
  return polynomial(z, c);
}

/// Of f = m - 1.
inline log_parts log_reduced(const num& f) {
  if (f.wide) {
    // With s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 L(s^2))).
    const num s = f / (f + 2.0), z = s * s, half_square = f * f * 0.5;
    return {f, s * (half_square + z * log_of_ratio(z)) - half_square};
  }
  // log(1 + f) = f - f^2/2 + f^3 R(f).
  static constexpr std::array<double, 9> c{0x1.555546p-2,  -0x1.ffffeep-3, 0x1.99a55ap-3,
                                           -0x1.5562ecp-3, 0x1.2330fcp-3,  -0x1.fb3ff2p-4,
                                           0x1.e6695ap-4,  -0x1.e30812p-4, 0x1.1b2e3cp-4};
  const num square = f * f;
  return {f, madd(square, -0.5, polynomial(f, c) * f * square)};
}

/// What a logarithm is outside of the positive finite numbers.
inline num log_specials(const num& x, const num& ordinary) {
  const double infinity = __builtin_inf();
  num out = choose(test(real_predicate::oeq, x, infinity), infinity, ordinary);
  out = choose(test(real_predicate::oeq, x, 0.0), -infinity, out);
  return choose(test(real_predicate::ult, x, 0.0), __builtin_nan(""), out);
}

inline num log(const num& x) {
  const parts p = split(x);
  const log_parts l = log_reduced(p.m - 1.0);
  const num low = madd(p.e, ln2_lower(x.wide), l.tail);
  return log_specials(x, madd(p.e, ln2_upper(x.wide), l.head + low));
}

/// log(2^more x) of a normal number as a pair, which keeps the digits of a logarithm near 0.
inline num log_of_pair(const pair& x, const num& more) {
  const normal_parts p = split_normal(x.head);
  // in this order a subnormal tail loses no digit
  const num tail = x.tail * p.twice_inverse() * 0.5, e = p.e + more;
  const log_parts l = log_reduced((p.m - 1.0) + tail);
  const bool wide = x.head.wide;
  const num low = madd(e, ln2_lower(wide), l.tail);
  return log_specials(x.head, madd(e, ln2_upper(wide), l.head + low));
}

/// log(1 + x) of the sum as a pair. The result has the sign of x, also that of zero.
inline num log1p(const num& x) {
  return log_of_pair(sum_pair(x, x.number(1.0)), x.number(0.0)).with_sign_of(x);
}

/// Logarithm to a base with 1 / ln(base) = factor; per_two is the logarithm of 2.
inline num log_base(const num& x, double factor, double per_two) {
  const parts p = split(x);
  const log_parts l = log_reduced(p.m - 1.0);
  return log_specials(x, madd(p.e, per_two, (l.head + l.tail) * factor));
}

}  // namespace tilewright::backend::llvm::detail::math
