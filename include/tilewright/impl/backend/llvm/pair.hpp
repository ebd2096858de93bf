// Sums and products of two floats with what rounding takes from them.
#pragma once

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

/// A sum of two numbers, the second a rounding error of the first.
struct pair {
  num head, tail;
};

/// x + y exactly.
inline pair sum_pair(const num& x, const num& y) {
  const num s = x + y, from_y = s - x;
  return {s, (x - (s - from_y)) + (y - from_y)};
}

/// x + y exactly, where |x| >= |y| or x is 0.
inline pair ordered_sum_pair(const num& x, const num& y) {
  const num s = x + y;
  return {s, (x - s) + y};
}

/// x * y - product, where product is x * y rounded: exact. Without fused multiply-add the factors
/// are cut in halves, of which those above 2^996 overflow.
inline num product_tail(const num& x, const num& y, const num& product) {
  if (x.b->cpu.fma) return madd(x, y, -product);
  const auto upper_half = [](const num& z) {
    const num scaled = z * (z.wide ? 0x1p27 + 1 : 0x1p12 + 1);
    return scaled - (scaled - z);
  };
  const num x_upper = upper_half(x), x_lower = x - x_upper;
  const num y_upper = upper_half(y), y_lower = y - y_upper;
  return ((x_upper * y_upper - product) + x_upper * y_lower + x_lower * y_upper) +
         x_lower * y_lower;
}

}  // namespace tilewright::backend::llvm::detail::math
