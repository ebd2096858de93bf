// Which divisions of floats a CPU does more slowly than the multiply-adds that round as they do.
#pragma once

#include <tilewright/support/dtype.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::target {

/// Whether three fused multiply-adds and a test of the lanes cost less than a division by one
/// divisor, in vectors of `lanes` elements. Zen 5 divides sixteen f32 in 2.6 cycles, which is what
/// the others take, and eight f64 in 4.
inline bool divides_slowly(const cpu& c, dtype type, int lanes) {
  const bool wide = type == dtype::f64;
  if (!c.fma || lanes * (wide ? 64 : 32) < 256) return false;
  const bool is_zen5 = c.tune == "znver5" || (c.tune == "znver4" && c.has("avxvnni"));
  return wide || !is_zen5;
}

}  // namespace tilewright::target
