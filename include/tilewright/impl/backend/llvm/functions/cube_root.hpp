// Cube roots. Coefficients are a minimax fit made for this file.
#pragma once

#include <tilewright/impl/backend/llvm/functions/exponential.hpp>

namespace tilewright::backend::llvm::detail::math {

/// x = m 2^(3 n) with m in [0.35, 2.83): y near m^(-1/3) by a polynomial on [sqrt(1/2), sqrt(2)), better by one step in
/// f64, gives c = m y^2, and a step of Newton's with the exact remainder m - c^3 the last digits.
inline num cbrt(const num& x) {
  // to 2^-14 of itself
  static constexpr std::array<double, 5> inverse{0x1.dfe0b0p+0, -0x1.dca1c2p+0, 0x1.8fb2e4p+0,
                                                 -0x1.67a0aap-1, 0x1.06e7e6p-3};
  const num a = x.unary("llvm.fabs");
  const parts p = split(a);
  value_ref n = nullptr;
  const num third = nearest(p.e * 0x1.5555555555555p-2, n), rest = madd(third, -3.0, p.e);
  const value_ref less = test(real_predicate::olt, rest, 0.0),
                  more = test(real_predicate::ogt, rest, 0.0);
  const num m = p.m * choose(less, 0.5, choose(more, 2.0, x.number(1.0)));
  num y = polynomial(p.m, inverse) *
          choose(less, 0x1.428a2f98d728bp+0, choose(more, 0x1.965fea53d6e3dp-1, x.number(1.0)));
  if (x.wide) {
    // with h = 1 - m y^3, m^(-1/3) = y (1 - h)^(-1/3)
    const num h = madd(-(m * y), y * y, x.number(1.0));
    y = madd(y * h, madd(h, 0x1.c71c71c71c71cp-3, x.number(0x1.5555555555555p-2)), y);
  }
  const num c = m * y * y, square = c * c, cube = square * c;
  const num missing =
      (m - cube) - madd(product_tail(c, c, square), c, product_tail(square, c, cube));
  const num root = madd(missing * (y * y), 0x1.5555555555555p-2, c) * power_of_two(x, n);
  const value_ref ordinary = x.b->binary(opcode::and_, test(real_predicate::ogt, a, 0.0),
                                         test(real_predicate::olt, a, __builtin_inf()));
  return choose(ordinary, root.with_sign_of(x), x);
}

}  // namespace tilewright::backend::llvm::detail::math
