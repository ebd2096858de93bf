// Angles of tangents, of points, of sines and of cosines. Coefficients are minimax fits made for this file.
#pragma once

#include <tilewright/impl/backend/llvm/pair.hpp>

namespace tilewright::backend::llvm::detail::math {

/// A quarter of pi, with so many trailing zeros that thrice it is a number, and what that leaves.
inline double eighth_turn_upper(bool wide) { return wide ? 0x1.921fb54442d20p-1 : 0x1.921fbp-1; }
inline double eighth_turn_lower(bool wide) {
  return wide ? -0x1.ee59d9cceba40p-51 : 0x1.5110b4p-23;
}

/// (atan(t) - t) / t^3 of z = t^2 for |t| <= 1/2, to 2^-57 of t, in f32 2^-28.
inline num atan_series(const num& z) {
  static constexpr std::array<double, 6> narrow{-0x1.555552p-2, 0x1.9996fep-3,  -0x1.244beep-3,
                                                0x1.c03614p-4,  -0x1.47453cp-4, 0x1.3ddd7ap-5};
  static constexpr std::array<double, 12> wide{
      -0x1.555555555551bp-2, 0x1.99999999918ecp-3, -0x1.249249218074ap-3, 0x1.c71c709aef9d6p-4,
      -0x1.745cf5a78858dp-4, 0x1.3b1149c9b1ecep-4, -0x1.10f38e3b39b6cp-4, 0x1.dfeed469c57eep-5,
      -0x1.a3ae50c085836p-5, 0x1.572eaed317368p-5, -0x1.c229d3b125026p-6, 0x1.4c627de7537efp-7};
  return z.wide ? polynomial(z, wide) : polynomial(z, narrow);
}

/// n pi / 4 + atan(t), n one of 0 to 4.
inline num eighths_and_arc(const num& n, const num& t) {
  const num z = t * t;
  const num low = madd(n, eighth_turn_lower(t.wide), t * z * atan_series(z));
  return madd(n, eighth_turn_upper(t.wide), t + low);
}

/// The quotient whose arc is added to 0, 1 or 2 eighths of a turn, such that it is at most 1/2: of y / x,
/// both at least 0, what is left below, around or above the diagonal. The difference is exact.
struct arc_quotient {
  num eighths, upper, lower;
};

inline arc_quotient reduce_arc(const num& y, const num& x) {
  const value_ref below = test(real_predicate::ole, y + y, x);
  const value_ref around = test(real_predicate::olt, y, x + x);
  return {choose(below, 0.0, choose(around, 1.0, x.number(2.0))),
          choose(below, y, choose(around, y - x, -x)), choose(below, x, choose(around, y + x, y))};
}

inline num atan(const num& x) {
  const arc_quotient a = reduce_arc(x.unary("llvm.fabs"), x.number(1.0));
  return eighths_and_arc(a.eighths, a.upper / a.lower).with_sign_of(x);
}

/// The angle of the point (x, y).
inline num atan2(const num& y, const num& x) {
  const builder& b = *x.b;
  const num height = y.unary("llvm.fabs"), width = x.unary("llvm.fabs");
  // infinite both, they are as good as equal; large, their sum would be infinite
  const double infinity = __builtin_inf(), large = x.wide ? 0x1p1000 : 0x1p120;
  const auto both = [&](opcode op, real_predicate p, double limit) {
    return b.binary(op, test(p, height, limit), test(p, width, limit));
  };
  const value_ref infinite = both(opcode::and_, real_predicate::oeq, infinity);
  const num factor = choose(both(opcode::or_, real_predicate::ogt, large),
                            x.wide ? 0x1p-100 : 0x1p-50, x.number(1.0));
  const arc_quotient a =
      reduce_arc(choose(infinite, 1.0, height * factor), choose(infinite, 1.0, width * factor));
  // the angle of the origin is that of (1, 0)
  const num t = choose(test(real_predicate::oeq, a.lower, 0.0), a.upper, a.upper / a.lower);
  // on the left it is half a turn less the angle
  const value_ref left = b.compare(int_predicate::slt, x.raw(), x.integer(0));
  return eighths_and_arc(choose(left, x.number(4.0) - a.eighths, a.eighths), choose(left, -t, t))
      .with_sign_of(y);
}

/// (asin(s) - s) / s^3 of z = s^2 for |s| <= 1/2, to 2^-58 of s, in f32 2^-29.
inline num asin_series(const num& z) {
  static constexpr std::array<double, 6> narrow{0x1.55554cp-3, 0x1.333816p-4, 0x1.6cad16p-5,
                                                0x1.04a102p-5, 0x1.d82ec2p-7, 0x1.33ac24p-5};
  static constexpr std::array<double, 13> wide{
      0x1.5555555555576p-3, 0x1.333333332e293p-4, 0x1.6db6db7209366p-5, 0x1.f1c71a969dd97p-6,
      0x1.6e8bded49ae75p-6, 0x1.1c49ef5535a91p-6, 0x1.ca1fc86cfc6b2p-7, 0x1.7582c71b29c5ep-7,
      0x1.6150068b8e147p-7, 0x1.e49cbee8a637dp-9, 0x1.641259314494ep-6, -0x1.58b43d96fef63p-6,
      0x1.0b843acd33583p-5};
  return z.wide ? polynomial(z, wide) : polynomial(z, narrow);
}

/// asin(s) as s and the rest, of |x| up to 1/2, else of sqrt((1 - |x|) / 2), half the angle from the pole.
struct arc_of_sine {
  value_ref far;
  num s, rest;
};

inline arc_of_sine reduce_sine(const num& x) {
  const num a = x.unary("llvm.fabs"), half = (x.number(1.0) - a) * 0.5;
  const value_ref far = test(real_predicate::ugt, a, 0.5);
  const num z = choose(far, half, a * a), s = choose(far, half.unary("llvm.sqrt"), a);
  return {far, s, s * z * asin_series(z)};
}

inline num asin(const num& x) {
  const arc_of_sine a = reduce_sine(x);
  const double upper = 2 * eighth_turn_upper(x.wide), lower = 2 * eighth_turn_lower(x.wide);
  const pair far = ordered_sum_pair(x.number(upper), a.s * -2.0);
  const num outer = far.head + (far.tail - (a.rest * 2.0 - lower));
  return choose(a.far, outer, a.s + a.rest).with_sign_of(x);
}

inline num acos(const num& x) {
  const arc_of_sine a = reduce_sine(x);
  const num upper = x.number(2 * eighth_turn_upper(x.wide)),
            lower = x.number(2 * eighth_turn_lower(x.wide));
  const num s = a.s.with_sign_of(x), rest = a.rest.with_sign_of(x);
  const num near = upper - (s + (rest - lower));
  // twice the angle from the pole at 1, or half a turn less that from the pole at -1
  const value_ref left = test(real_predicate::olt, x, 0.0);
  const num from = choose(left, upper, x.number(0.0)), below = choose(left, lower, x.number(0.0));
  return choose(a.far, (from + (s + (rest + below))) * 2.0, near);
}

}  // namespace tilewright::backend::llvm::detail::math
