// Quotients of lanes by one divisor, as products by its reciprocal that round as the division does.
#pragma once

#include <cstdint>

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

/// x / divisor, rounded to nearest; the target has fused multiply-adds.
///
/// With r = 1 / divisor and q = x r, both rounded, q + (x - q divisor) r in two fused multiply-adds
/// is the quotient rounded to nearest (Markstein, IBM Journal of R&D 34 (1990); Brisebarre, Muller
/// and Raina, IEEE Transactions on Computers 53 (2004), algorithm 1), as long as nothing leaves the
/// normal numbers: |x| in [2^-a, 2^a) and |divisor| in [2^-d, 2^d), which keeps the quotient and the
/// last place of the remainder inside. A vector with a lane elsewhere, zeros and infinities among
/// them, is divided.
inline num quotient_by_one(const num& x, value_ref divisor) {
  const builder& b = *x.b;
  const int a = x.wide ? 900 : 90, d = x.wide ? 100 : 30;
  const int mantissa = x.wide ? 52 : 23, bias = x.wide ? 1023 : 127;
  const auto bits_of_power = [&](int exponent) {
    return std::int64_t{bias + exponent} << mantissa;
  };
  // the distance of |value| from the lower limit in places; below it, a large number
  const auto distance = [&](const num& value, int limit) {
    const value_ref magnitude =
        b.binary(opcode::and_, value.raw(), value.integer(x.wide ? INT64_MAX : INT32_MAX));
    return b.binary(opcode::sub, magnitude, value.integer(bits_of_power(-limit)));
  };
  const auto span = [&](int limit) { return bits_of_power(limit) - bits_of_power(-limit); };

  const num one{x.b, divisor, x.wide, 1}, by = x.with(b.splat(divisor, x.lanes));
  const value_ref fits = b.compare(int_predicate::ult, distance(one, d), one.integer(span(d)));
  const value_ref most = b.select(fits, one.integer(span(a)), one.integer(0));
  const num reciprocal = x.with(b.splat((one.number(1.0) / one).v, x.lanes));
  const value_ref outside = b.compare(int_predicate::uge, distance(x, a), b.splat(most, x.lanes));
  const type_ref mask = b.c.IntTypeInContext(b.context, static_cast<unsigned>(x.lanes));
  const value_ref any =
      b.compare(int_predicate::ne, b.convert(opcode::bitcast, outside, mask), b.integer(mask, 0));

  const value_ref function = b.here_in();
  const block_ref products = b.new_block(function, "products"),
                  division = b.new_block(function, "division"),
                  join = b.new_block(function, "join");
  b.branch(any, division, products);
  b.at(products);
  const num q = x * reciprocal;
  const num by_products = madd(madd(-q, by, x), reciprocal, q);
  b.branch(join);
  b.at(division);
  const num divided = x / by;
  b.branch(join);
  b.at(join);
  return x.with(b.phi(x.type(), {{by_products.v, products}, {divided.v, division}}));
}

}  // namespace tilewright::backend::llvm::detail::math
