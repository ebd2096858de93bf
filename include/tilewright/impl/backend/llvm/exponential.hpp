// Exponentials and logarithms. Coefficients are minimax fits made for this file, in the form their
// comments give.
#pragma once

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

/// exp(r + error) for |r| <= ln(2) / 2 and a tiny error: 1 + (r + (r^2 q(r) + error)).
inline num exp_reduced(const num& r, const num& error) {
  static constexpr std::array<double, 5> narrow{0x1.000000p-1, 0x1.55548cp-3, 0x1.55545ep-5,
                                                0x1.123cecp-7, 0x1.6db3a8p-10};
  static constexpr std::array<double, 10> wide{
      0x1.000000000000cp-1,  0x1.555555555555fp-3,  0x1.555555554fda1p-5,  0x1.111111110dd71p-7,
      0x1.6c16c186339e5p-10, 0x1.a01a01b8b3275p-13, 0x1.a019951ab0412p-16, 0x1.71dde439fb870p-19,
      0x1.28b1a4abe352bp-22, 0x1.af7f152e5fa99p-26};
  const num q = r.wide ? polynomial(r, wide) : polynomial(r, narrow);
  return r + madd(q, r * r, error) + 1.0;
}

/// Upper parts of ln(2) have so many trailing zeros that their product with an exponent is exact.
inline double ln2_upper(bool wide) { return wide ? 0x1.62e42fefa38p-1 : 0x1.62e4p-1; }
inline double ln2_lower(bool wide) { return wide ? 0x1.ef35793c7673p-45 : 0x1.7f7d1cp-20; }

/// exp(x), or exp(x + *tail) for a tail that is a rounding error of x.
inline num exp(const num& x, const num* tail = nullptr) {
  const double lowest = x.wide ? -746.0 : -104.0;  // of less, the exponential is 0
  const num c = clamp(x, lowest, x.wide ? 710.0 : 89.0);
  const value_ref zero = test(real_predicate::olt, x, lowest);
  value_ref n = nullptr;
  const num whole = nearest(c * 0x1.71547652b82fep0, n);
  // The first step is exact; what the second one rounds away comes back as `error`.
  const num start = madd(whole, -ln2_upper(x.wide), c);
  const num r = madd(whole, -ln2_lower(x.wide), start);
  const num error = madd(whole, -ln2_lower(x.wide), start - r);
  if (!tail) return scale(exp_reduced(r, error), whole, n, zero);
  const num whole_r = r + *tail;
  return scale(exp_reduced(whole_r, error + ((r - whole_r) + *tail)), whole, n, zero);
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

inline parts split(const num& x) {
  const builder& b = *x.b;
  const int mantissa = x.wide ? 52 : 23;
  const double smallest = x.wide ? 0x1p-1022 : 0x1p-126;
  const value_ref tiny = test(real_predicate::olt, x, smallest);
  const num normal = choose(tiny, x * (x.wide ? 0x1p54 : 0x1p25), x);
  // Counted from sqrt(1/2), the exponent field is that of the fraction's binade.
  const value_ref root = x.integer(x.wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3);
  const value_ref distance = b.binary(opcode::sub, normal.raw(), root);
  const value_ref exponent = b.binary(opcode::ashr, distance, x.integer(mantissa));
  const value_ref cut = b.binary(opcode::shl, exponent, x.integer(mantissa));
  const num m = x.from_raw(b.binary(opcode::sub, normal.raw(), cut));
  const num e = x.with(b.convert(opcode::sitofp, exponent, x.type()));
  return {m, choose(tiny, e - (x.wide ? 54.0 : 25.0), e)};
}

/// log(m) as head + tail, head exact enough that e * ln(2) may be added between them.
struct log_parts {
  num head, tail;
};

inline log_parts log_reduced(const num& m) {
  const num f = m - 1.0;
  if (m.wide) {
    // With s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + s^2 L(s^2))).
    static constexpr std::array<double, 7> c{
        0x1.5555555555593p-1, 0x1.999999997f93dp-2, 0x1.2492494234398p-2, 0x1.c71c51cf2beb2p-3,
        0x1.74664ba35b661p-3, 0x1.39a05dd3d8496p-3, 0x1.2f13e8fd5825ep-3};
    const num s = f / (f + 2.0), z = s * s, half_square = f * f * 0.5;
    return {f, s * (half_square + z * polynomial(z, c)) - half_square};
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
  const log_parts l = log_reduced(p.m);
  const num low = madd(p.e, ln2_lower(x.wide), l.tail);
  return log_specials(x, madd(p.e, ln2_upper(x.wide), l.head + low));
}

/// Logarithm to a base with 1 / ln(base) = factor; per_two is the logarithm of 2.
inline num log_base(const num& x, double factor, double per_two) {
  const parts p = split(x);
  const log_parts l = log_reduced(p.m);
  return log_specials(x, madd(p.e, per_two, (l.head + l.tail) * factor));
}

}  // namespace tilewright::backend::llvm::detail::math
