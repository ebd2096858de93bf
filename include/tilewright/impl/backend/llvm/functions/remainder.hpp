// The remainder of a division that rounds towards zero, as fmod of C: exact.
#pragma once

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

/// |x| - q |y| with q = trunc(|x| / |y|). The quotient is rounded, so that q may be one too large; the product is
/// subtracted in one rounding, and the difference has so few digits that it is exact, since q is below 2^52 (f32: 2^23).
/// Of a divisor 0, as lanes behind the end of a row have it, and of NaN the formula gives NaN. Vectors with a lane of a
/// larger quotient or an infinite divisor, and targets without fused multiply-add, call the C library.
inline num fmod(const num& x, const num& y) {
  if (!x.b->cpu.fma) return x.with(call_library(x, "fmod", {x.v, y.v}));
  const num a = x.unary("llvm.fabs"), by = y.unary("llvm.fabs"), quotient = a / by;
  const value_ref exact = test(real_predicate::ult, quotient, x.wide ? 0x1p52 : 0x1p23);
  const value_ref within =
      x.b->binary(opcode::and_, x.b->binary(opcode::or_, exact, test(real_predicate::oeq, by, 0.0)),
                  test(real_predicate::ult, by, __builtin_inf()));
  return within_or_library(x, within, "fmod", {x.v, y.v}, [&] {
    const num rest = madd(-quotient.unary("llvm.trunc"), by, a);
    return choose(test(real_predicate::olt, rest, 0.0), rest + by, rest).with_sign_of(x);
  });
}

}  // namespace tilewright::backend::llvm::detail::math
