// Arithmetic of lanes in 16 bits where its result has no more, so that twice as many numbers are computed at once.
//
//   for c in vectorized(64):
//     Y[c] = u8((i32(A[c]) * 77 + i32(B[c]) * 179 + 128) // 256)
//
//   for c in vectorized(64):
//     Y[c] = u8((u16(A[c]) * 77 + u16(B[c]) * 179 + 128) // 256)
//
// The lower halves of sums, differences and products follow from those of their operands, whatever these
// are. Quotients, choices and comparisons need all of them: there bounds have to show that 16 bits hold every
// value. A quotient of what may be negative is rounded down as well if the dividend has some divisors more:
//
//   x // 255, x in [-64898, 127]   ->   (x + 255 * 255) // 255 - 255
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on integers of 32 bits in vectorized loops that are cast to 16 bits or fewer.
ir::function narrow_lanes(const ir::function& f);

}  // namespace tilewright::pass
