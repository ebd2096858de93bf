// Hyperbolic sine and cosine. |x| = n ln(2) + r with |r| <= ln(2) / 2, and with
// P = (2^n - 2^-n) / 2, Q = (2^n + 2^-n) / 2 the addition theorems say
//
//   sinh x = P cosh r + Q sinh r,   cosh x = Q cosh r + P sinh r,
//
// where nothing cancels that has been rounded and no quotient is taken. All is computed at half its size, so
// that no 2^n leaves the range. Coefficients are minimax fits made for this file.
#pragma once

#include <tilewright/impl/backend/llvm/functions/exponential.hpp>

namespace tilewright::backend::llvm::detail::math {

/// (sinh(r) - r) / r^3 and (cosh(r) - 1) / r^2 of z = r^2 for |r| <= 0.34658, to 2^-59 of r and 2^-64, in f32 2^-30
/// and 2^-29.
inline num sinh_series(const num& z) {
  static constexpr std::array<double, 3> narrow{0x1.555556p-3, 0x1.1110b2p-7, 0x1.a16fe4p-13};
  static constexpr std::array<double, 6> wide{0x1.5555555555555p-3,  0x1.1111111111113p-7,
                                              0x1.a01a01a018825p-13, 0x1.71de3a5eb28d4p-19,
                                              0x1.ae641c6c8ebafp-26, 0x1.61d73ccb7bfdep-33};
  return z.wide ? polynomial(z, wide) : polynomial(z, narrow);
}

inline num cosh_series(const num& z) {
  static constexpr std::array<double, 3> narrow{0x1.0p-1, 0x1.55547ep-5, 0x1.6d9780p-10};
  static constexpr std::array<double, 6> wide{0x1.0p-1,
                                              0x1.555555555555cp-5,
                                              0x1.6c16c16c13f29p-10,
                                              0x1.a01a01b17e4c3p-16,
                                              0x1.27e4c503965e7p-22,
                                              0x1.1f95424002000p-29};
  return z.wide ? polynomial(z, wide) : polynomial(z, narrow);
}

inline num hyperbolic(const num& x, bool cosine) {
  const builder& b = *x.b;
  const num magnitude = x.unary("llvm.fabs");
  const double highest = x.wide ? 710.6 : 89.6;  // of more, the result is infinite
  const exp_argument a =
      reduce_exp(choose(test(real_predicate::ogt, magnitude, highest), highest, magnitude));
  const value_ref two = x.integer(2);
  const num up = power_of_two(x, b.binary(opcode::sub, a.bits, two));
  // where 2^-n is not a normal number, it is nothing beside 2^n
  const num down = choose(test(real_predicate::ogt, a.n, 60.0), 0.0,
                          power_of_two(x, b.binary(opcode::sub, x.integer(-2), a.bits)));
  const num p = up - down, q = up + down, z = a.r * a.r;
  const num sine = madd(a.r * z, sinh_series(z), a.error), cosine_part = z * cosh_series(z);
  // what rounding takes from the larger summand counts where the next one brings the sum below a power of 2
  if (cosine) {
    const num tail = madd(q, cosine_part, down - (q - up));
    return (madd(p, a.r, q) + madd(p, sine, tail)) * 2.0;
  }
  const num tail = madd(p, cosine_part, (up - p) - down);
  const num out = (madd(q, a.r, p) + madd(q, sine, tail)) * 2.0;
  // half of a subnormal number loses a digit
  const value_ref tiny = test(real_predicate::olt, magnitude, x.wide ? 0x1p-30 : 0x1p-14);
  return choose(tiny, x, out.with_sign_of(x));
}

}  // namespace tilewright::backend::llvm::detail::math
