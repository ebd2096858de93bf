// Quotients as products by a reciprocal that several share, which round as the division does.
#pragma once

#include <cstdint>

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

/// The bits that tell whether a float's exponent lies in a span: with `lowest` added to the bits of a
/// float, those of `outside` are zero exactly where |float| is in [2^-n, 2^n), n a power of two.
struct exponent_span {
  std::int64_t lowest, outside;

  static exponent_span of(int n, bool wide) {
    const int mantissa = wide ? 52 : 23, bias = wide ? 1023 : 127, exponents = wide ? 2048 : 256;
    return {-(std::int64_t{bias - n} << mantissa), std::int64_t{exponents - 2 * n} << mantissa};
  }
};

/// Whether all lanes of a vector of words are zero.
inline value_ref no_bits(const num& like, value_ref words, int lanes) {
  const builder& b = *like.b;
  const value_ref lane = b.compare(int_predicate::ne, words, b.integer(like.word(), 0, lanes));
  const type_ref mask = b.c.IntTypeInContext(b.context, static_cast<unsigned>(lanes));
  return b.compare(int_predicate::eq, b.convert(opcode::bitcast, lane, mask), b.c.ConstNull(mask));
}

/// x / divisor lane by lane, rounded to nearest, for a divisor by which others are divided, too: LLVM computes its reciprocal,
/// and what is asked of it, once. As `quotient_by_one` but for the test, which each vector makes for itself.
inline num quotient_by_each(const num& x, const num& divisor) {
  const builder& b = *x.b;
  const exponent_span of_x = exponent_span::of(x.wide ? 512 : 64, x.wide),
                      of_divisor = exponent_span::of(x.wide ? 128 : 32, x.wide);
  const auto outside = [&](const num& of, const exponent_span& span) {
    return b.binary(opcode::and_, b.binary(opcode::add, of.raw(), of.integer(span.lowest)),
                    of.integer(span.outside));
  };
  const num reciprocal = x.number(1.0) / divisor;
  const value_ref away = outside(divisor, of_divisor),
                  none = no_bits(x, b.binary(opcode::or_, outside(x, of_x), away), x.lanes);
  const auto by_products = [&] {
    const num q = x * reciprocal;
    return madd(madd(-q, divisor, x), reciprocal, q).v;
  };
  return x.with(in_blocks(b, none, x.type(), by_products, [&] { return (x / divisor).v; }));
}

/// x / divisor, rounded to nearest; the target has fused multiply-adds.
///
/// With r = 1 / divisor and q = x r, both rounded, q + (x - q divisor) r in two fused multiply-adds
/// is the quotient rounded to nearest (Markstein, IBM Journal of R&D 34 (1990); Brisebarre, Muller
/// and Raina, IEEE Transactions on Computers 53 (2004), algorithm 1), as long as nothing leaves the
/// normal numbers: |x| in [2^-a, 2^a) and |divisor| in [2^-d, 2^d), which keeps the quotient and the
/// last place of the remainder inside. Vectors with a lane elsewhere, zeros and infinities among
/// them, are divided.
///
/// One test serves all lanes, of however many vectors. It waits for the divisor in its last step alone, so that
/// the next row's elements are looked at while a root or a sum is on its way. What of it concerns the divisor is
/// arithmetic without a comparison, so that LLVM computes it before the loops around.
inline num quotient_by_one(const num& x, value_ref divisor) {
  const builder& b = *x.b;
  const exponent_span of_x = exponent_span::of(x.wide ? 512 : 64, x.wide),
                      of_divisor = exponent_span::of(x.wide ? 128 : 32, x.wide);
  const num one{x.b, divisor, x.wide, 1}, by = x.with(b.splat(divisor, x.lanes));

  // bits of a word where the divisor is outside
  const value_ref away =
      b.binary(opcode::and_, b.binary(opcode::add, one.raw(), one.integer(of_divisor.lowest)),
               one.integer(of_divisor.outside));
  const num reciprocal = x.with(b.splat((one.number(1.0) / one).v, x.lanes));

  value_ref distance = b.binary(opcode::add, x.raw(), x.integer(of_x.lowest));
  int lanes = x.lanes;
  for (; lanes * (x.wide ? 64 : 32) > b.cpu.vector_bits; lanes /= 2) {
    const auto half = [&](int first) {
      return b.c.BuildShuffleVector(b.b, distance, distance, b.ramp(b.i32, first, 1, lanes / 2),
                                    "");
    };
    distance = b.binary(opcode::or_, half(0), half(lanes / 2));
  }
  const value_ref found =
      b.binary(opcode::and_, distance, b.integer(x.word(), of_x.outside, lanes));
  const value_ref lane = b.compare(int_predicate::ne, found, b.integer(x.word(), 0, lanes));
  const type_ref mask = b.c.IntTypeInContext(b.context, static_cast<unsigned>(lanes));
  const value_ref some = b.convert(opcode::zext, b.convert(opcode::bitcast, lane, mask), x.word());
  const value_ref none =
      b.compare(int_predicate::eq, b.binary(opcode::or_, some, away), b.integer(x.word(), 0));
  const auto by_products = [&] {
    const num q = x * reciprocal;
    return madd(madd(-q, by, x), reciprocal, q).v;
  };
  return x.with(in_blocks(b, none, x.type(), by_products, [&] { return (x / by).v; }));
}

}  // namespace tilewright::backend::llvm::detail::math
