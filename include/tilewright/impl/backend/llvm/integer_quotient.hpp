// Quotients of lanes by one divisor that are rounded to integers of 8 or 16 bits.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/impl/backend/llvm/quotient.hpp>

namespace tilewright::backend::llvm::detail::math {

/// Lanes `first` to `first + count` of a vector.
inline value_ref lanes_from(const builder& b, value_ref v, int first, int count) {
  return b.c.BuildShuffleVector(b.b, v, v, b.ramp(b.i32, first, 1, count), "");
}

/// The nearest integers of floats of 32 bits below 2^22, in 32 bits, by the instruction for it where the target has
/// one, which rounds as `round` does.
inline value_ref nearest_words(const num& x) {
  const builder& b = *x.b;
  const int most = b.cpu.vector_bits / 32;
  if (x.lanes > most) {
    const int half = x.lanes / 2;
    const auto part = [&](int first) {
      return nearest_words(num{x.b, lanes_from(b, x.v, first, half), false, half});
    };
    return b.c.BuildShuffleVector(b.b, part(0), part(half), b.ramp(b.i32, 0, 1, x.lanes), "");
  }
  value_ref out = nullptr;
  if (x.lanes == 16 && b.cpu.has("avx512f"))
    out = b.target_intrinsic(
        "llvm.x86.avx512.mask.cvtps2dq.512",
        {x.v, b.integer(b.i32, 0, 16), b.integer(b.c.IntTypeInContext(b.context, 16), -1),
         b.integer(b.i32, 4)});  // rounds as the processor is set to
  else if (x.lanes == 8 && b.cpu.has("avx"))
    out = b.target_intrinsic("llvm.x86.avx.cvt.ps2dq.256", {x.v});
  else if (x.lanes == 4 && b.cpu.has("sse2"))
    out = b.target_intrinsic("llvm.x86.sse2.cvtps2dq", {x.v});
  if (!out) nearest(x, out);
  return out;
}

/// Words as integers of 8 or 16 bits; those beyond become the smallest or the largest of these.
inline value_ref saturated(const builder& b, dtype to, value_ref words, int lanes) {
  const int width = bits(to) - (is_unsigned(to) ? 0 : 1);
  const std::int64_t top = (std::int64_t{1} << width) - 1, bottom = is_unsigned(to) ? 0 : -top - 1;
  const value_ref low = b.integer(b.i32, bottom, lanes), high = b.integer(b.i32, top, lanes);
  words = b.select(b.compare(int_predicate::sgt, words, low), words, low);
  words = b.select(b.compare(int_predicate::slt, words, high), words, high);
  return b.convert(opcode::trunc, words, b.held(to, lanes));
}

/// round(x / divisor) as integers of 8 or 16 bits, f32; the target has fused multiply-adds.
///
/// Products by the reciprocal round as quotients do (`quotient_by_one`) where neither quotient nor remainder leaves the
/// normal numbers. Of a numerator below these, the quotient is far below 1/2 either way, and its integer 0; so what
/// is tested is the divisor's exponent, once, and that no |x / divisor| exceeds 2^21, which no infinity and no NaN
/// passes. One test serves all lanes, of however many vectors, and asks no port that multiplies.
inline value_ref integer_quotient(dtype to, const num& x, value_ref divisor) {
  const builder& b = *x.b;
  const exponent_span of_divisor = exponent_span::of(32, false);
  const num one{x.b, divisor, false, 1}, by = x.with(b.splat(divisor, x.lanes));
  const value_ref away =
      b.binary(opcode::and_, b.binary(opcode::add, one.raw(), one.integer(of_divisor.lowest)),
               one.integer(of_divisor.outside));
  const num reciprocal = x.with(b.splat((one.number(1.0) / one).v, x.lanes));
  const value_ref limit = (one.unary("llvm.fabs") * 0x1p21).raw();

  value_ref largest = x.unary("llvm.fabs").raw();
  int lanes = x.lanes;
  for (; lanes * 32 > b.cpu.vector_bits; lanes /= 2) {
    const value_ref low = lanes_from(b, largest, 0, lanes / 2),
                    high = lanes_from(b, largest, lanes / 2, lanes / 2);
    largest = b.select(b.compare(int_predicate::ugt, low, high), low, high);
  }
  const value_ref lane = b.compare(int_predicate::uge, largest, b.splat(limit, lanes));
  const type_ref mask = b.c.IntTypeInContext(b.context, static_cast<unsigned>(lanes));
  const value_ref some = b.convert(opcode::zext, b.convert(opcode::bitcast, lane, mask), b.i32);
  const value_ref none =
      b.compare(int_predicate::eq, b.binary(opcode::or_, some, away), b.integer(b.i32, 0));
  const auto by_products = [&] {
    const num q = x * reciprocal;
    return saturated(b, to, nearest_words(madd(madd(-q, by, x), reciprocal, q)), x.lanes);
  };
  const auto divided = [&] {
    return b.cast(to, dtype::f32, (x / by).unary("llvm.nearbyint").v, x.lanes);
  };
  return in_blocks(b, none, b.held(to, x.lanes), by_products, divided);
}

}  // namespace tilewright::backend::llvm::detail::math
