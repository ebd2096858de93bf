// Powers: exp(y log x), the logarithm with more digits than the result has.
#pragma once

#include <array>

#include <tilewright/impl/backend/llvm/functions/exponential.hpp>
#include <tilewright/impl/backend/llvm/pair.hpp>

namespace tilewright::backend::llvm::detail::math {

/// C's table of special cases around |x|^y.
inline num pow_specials(const num& x, const num& y, const num& magnitude) {
  const builder& b = *x.b;
  const num base = x.unary("llvm.fabs");
  const num half = y * 0.5;
  const value_ref whole = test(real_predicate::oeq, y.unary("llvm.floor"), y);
  const value_ref odd =
      b.binary(opcode::and_, whole, test(real_predicate::one, half.unary("llvm.floor"), half));
  const value_ref negative = b.compare(int_predicate::slt, x.raw(), x.integer(0));
  const value_ref flips = b.binary(opcode::and_, negative, odd);
  num out = choose(flips, -magnitude, magnitude);
  const value_ref below = test(real_predicate::olt, x, 0.0);
  const value_ref finite = test(real_predicate::one, base, __builtin_inf());
  const value_ref invalid =
      b.binary(opcode::and_, b.binary(opcode::and_, below, finite), b.c.BuildNot(b.b, whole, ""));
  const value_ref infinite_power = test(real_predicate::oeq, y.unary("llvm.fabs"), __builtin_inf());
  out = choose(invalid, __builtin_nan(""), out);
  const value_ref unit =
      b.binary(opcode::and_, test(real_predicate::oeq, base, 1.0), infinite_power);
  out = choose(unit, 1.0, out);
  const value_ref one =
      b.binary(opcode::or_, test(real_predicate::oeq, x, 1.0), test(real_predicate::oeq, y, 0.0));
  return choose(one, 1.0, out);
}

inline num widened(const num& x) {
  return {x.b, x.b->convert(opcode::fpext, x.v, x.b->vector(x.b->f64, x.lanes)), true, x.lanes};
}

/// 2^t as f32, t in f64: to 2^-29 before the one rounding. Arbitrary for NaN.
inline num exp2_to_narrow(const num& t) {
  static constexpr std::array<double, 7> c{
      0x1.000000026236dp+0, 0x1.62e430c828c3dp-1,  0x1.ebfbdadb50f38p-3, 0x1.c6aed461e578bp-5,
      0x1.3b2dbc3ebb505p-7, 0x1.5f45972bbed7bp-10, 0x1.41d328ae2c39ap-13};
  const builder& b = *t.b;
  const num shifted = t + 0x1.8p52, fraction = polynomial(t - (shifted - 0x1.8p52), c);
  const value_ref exponent = b.binary(opcode::shl, shifted.raw(), t.integer(52));
  num out = fraction.from_raw(b.binary(opcode::add, fraction.raw(), exponent));
  // in this order of the limits, which are far beyond f32, nothing underflows
  out = choose(test(real_predicate::olt, t, -160.0), 0.0, out);
  out = choose(test(real_predicate::ogt, t, 160.0), __builtin_inf(), out);
  return {&b, b.convert(opcode::fptrunc, out.v, b.vector(b.f32, t.lanes)), false, t.lanes};
}

/// log2(x) of f32 in f64 to 2^-37 of itself, for x >= 0: the exponent and 2 atanh(s) / ln(2), s =
/// (m - 1) / (m + 1) by a division in f32 and a step of Newton's.
inline num log2_to_wide(const num& x) {
  static constexpr std::array<double, 5> c{0x1.71547652bedf2p+1, 0x1.ec709d12ce35ep-1,
                                           0x1.27777fe9931a7p-1, 0x1.a58d88476ebd7p-2,
                                           0x1.5ce85df7d608bp-2};
  const parts p = split(x);
  const num m = widened(p.m), f = m - 1.0, u = m + 1.0;
  const num inverse = widened(x.number(1.0) / (p.m + 1.0));
  const num close = f * inverse, s = madd(madd(-close, u, f), inverse, close);
  return madd(s, polynomial(s * s, c), widened(log_specials(x, p.e)));
}

/// exp2(y log2 x) in f64.
inline num pow_f32(const num& x, const num& y) {
  const num magnitude = exp2_to_narrow(widened(y) * log2_to_wide(x.unary("llvm.fabs")));
  return pow_specials(x, y, choose(test(real_predicate::uno, x, y), __builtin_nan(""), magnitude));
}

inline num exp10_f32(const num& x) {
  const num out = exp2_to_narrow(widened(x) * 0x1.a934f0979a371p+1);
  return choose(test(real_predicate::uno, x, x), x, out);
}

/// log(m) to 2^-65 or so for m in [sqrt(1/2), sqrt(2)): 2 s (1 + z/3 + z^2 q(z)) with z = s^2 and
/// s = (m - 1) / (m + 1), carried in pairs.
inline pair log_pair(const num& m) {
  static constexpr std::array<double, 8> q{
      0x1.999999999999ap-3, 0x1.2492492492522p-3, 0x1.c71c71c6ea871p-4, 0x1.745d177aad02ap-4,
      0x1.3b1395c881220p-4, 0x1.1118c9ee5b8a4p-4, 0x1.df7c5bc7c7563p-5, 0x1.e032e4d8436a1p-5};
  const num f = m - 1.0, u = m + 1.0, u_tail = m - (u - 1.0);
  const num s = f / u, whole = s * u;
  const num s_tail = ((f - whole) - product_tail(s, u, whole) - s * u_tail) / u;
  const num z = s * s, z_tail = product_tail(s, s, z) + s * s_tail * 2.0;
  const num third = z * 0x1.5555555555555p-2, higher = z * z * polynomial(z, q);
  const num third_tail = product_tail(z, z.number(0x1.5555555555555p-2), third) +
                         madd(z, 0x1.5555555555555p-56, z_tail * 0x1.5555555555555p-2);
  const num t = third + higher, t_tail = (third - t) + higher + third_tail;
  const num two = s * 2.0, product = two * t;
  const num below =
      product_tail(two, t, product) + madd(two, t_tail, s_tail * t * 2.0) + s_tail * 2.0;
  const num head = two + product;
  return {head, (two - head) + product + below};
}

/// exp(y log x) with the logarithm and the product in pairs.
inline num pow_f64(const num& x, const num& y) {
  const num base = x.unary("llvm.fabs");
  const parts p = split(base);
  const pair l = log_pair(p.m);
  const num shift = p.e * ln2_upper(true), sum = shift + l.head;
  const num rest_of_sum = (shift - sum) + l.head + madd(p.e, ln2_lower(true), l.tail);
  const num head = sum + rest_of_sum, tail = (sum - head) + rest_of_sum;
  const num log = log_specials(base, head);
  const num product = y * log;
  const num rest = product_tail(y, log, product) + y * tail;
  // beyond the range of exp, and where the logarithm is infinite, the head says it all
  const value_ref ordinary = test(real_predicate::olt, product.unary("llvm.fabs"), 800.0);
  const num error = choose(ordinary, rest, x.number(0.0));
  return pow_specials(x, y, exp(product, &error));
}

}  // namespace tilewright::backend::llvm::detail::math
