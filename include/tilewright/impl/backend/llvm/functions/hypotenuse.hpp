// sqrt(x^2 + y^2) without the squares' overflow and underflow.
#pragma once

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

inline num hypot(const num& x, const num& y) {
  const builder& b = *x.b;
  const num p = x.unary("llvm.fabs"), q = y.unary("llvm.fabs");
  const auto either = [&](real_predicate predicate, double limit) {
    return b.binary(opcode::or_, test(predicate, p, limit), test(predicate, q, limit));
  };
  // Where the larger is of the sizes between, its square is a normal number, and the smaller one's square is that
  // too or has no digit in the sum.
  const double large = x.wide ? 0x1p500 : 0x1p60, small = x.wide ? 0x1p-400 : 0x1p-40,
               shift = x.wide ? 0x1p600 : 0x1p100;
  const value_ref down = either(real_predicate::ogt, large),
                  keep = either(real_predicate::oge, small);
  const num factor = choose(down, 1 / shift, choose(keep, 1.0, x.number(shift)));
  const num back = choose(down, shift, choose(keep, 1.0, x.number(1 / shift)));
  const num u = p * factor, v = q * factor;
  const num out = madd(u, u, v * v).unary("llvm.sqrt") * back;
  return choose(either(real_predicate::oeq, __builtin_inf()), __builtin_inf(), out);
}

}  // namespace tilewright::backend::llvm::detail::math
