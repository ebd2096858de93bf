// 1 / sqrt(x): by the processor's estimate where roots and divisions take more time.
#pragma once

#include <string>

#include <tilewright/impl/backend/llvm/num.hpp>

namespace tilewright::backend::llvm::detail::math {

/// 1 / sqrt(x) to 2^-14, subnormal arguments included; null where the target has no such
/// instruction for so many lanes.
inline value_ref estimated_rsqrt(const num& x) {
  const builder& b = *x.b;
  const int width = x.lanes * (x.wide ? 64 : 32);
  if (!b.cpu.has("avx512f") || !(width == 512 || (width == 256 && b.cpu.has("avx512vl"))))
    return nullptr;
  const std::string name = std::string("llvm.x86.avx512.rsqrt14.") + (x.wide ? "pd." : "ps.");
  const type_ref mask = b.c.IntTypeInContext(b.context, x.lanes > 8 ? 16 : 8);
  return b.target_intrinsic(name + std::to_string(width), {x.v, x.v, b.integer(mask, -1)});
}

inline num rsqrt(const num& x) {
  const value_ref start = estimated_rsqrt(x);
  if (!start) return x.number(1.0) / x.unary("llvm.sqrt");
  const num estimate = x.with(start);
  // y (1 + e/2 + 3 e^2/8) with e = 1 - x y^2; f32 has enough of the first two
  num e = madd(-(x * estimate), estimate, x.number(1.0));
  const value_ref ordinary = test(real_predicate::ord, e, e);  // zeros and infinities are not
  if (!x.wide) return choose(ordinary, madd(estimate * 0.5, e, estimate), estimate);
  const num y = madd(estimate * e, madd(e, 0.375, x.number(0.5)), estimate);
  e = madd(-(x * y), y, x.number(1.0));
  return choose(ordinary, madd(y * 0.5, e, y), estimate);
}

}  // namespace tilewright::backend::llvm::detail::math
