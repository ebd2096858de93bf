// Powers: exp(y log x), the logarithm with more digits than the result has.
#pragma once

#include <array>

#include <tilewright/impl/backend/llvm/exponential.hpp>
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
  out = choose(b.binary(opcode::and_, invalid, b.c.BuildNot(b.b, infinite_power, "")),
               __builtin_nan(""), out);
  const value_ref unit =
      b.binary(opcode::and_, test(real_predicate::oeq, base, 1.0), infinite_power);
  out = choose(unit, 1.0, out);
  const value_ref one =
      b.binary(opcode::or_, test(real_predicate::oeq, x, 1.0), test(real_predicate::oeq, y, 0.0));
  return choose(one, 1.0, out);
}

/// exp(y log x) in f64.
inline num pow_f32(const num& x, const num& y) {
  const builder& b = *x.b;
  const type_ref wide_type = b.vector(b.f64, x.lanes);
  const auto widen = [&](const num& n) {
    return num{&b, b.convert(opcode::fpext, n.v, wide_type), true, n.lanes};
  };
  const num product = widen(y) * log(widen(x.unary("llvm.fabs")));
  return pow_specials(x, y, x.with(b.convert(opcode::fptrunc, exp(product).v, x.type())));
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
