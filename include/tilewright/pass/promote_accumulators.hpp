// Keeps what a reduction accumulates in registers.
//
//   for k in range(256):                          allocate acc[6, 16]  (local)
//     for i in unroll(6):                         for i in unroll(6):
//       for j in vectorized(16):           ->       for j in vectorized(16):
//         C[i0 + i, j0 + j] += A * B                  acc[i, j] = C[i0 + i, j0 + j]
//                                                 for k in range(256):
//                                                   for i in unroll(6): for j in vectorized(16):
//                                                     acc[i, j] += A * B
//                                                 ... C[i0 + i, j0 + j] = acc[i, j]
//
// It applies to the outermost loop whose body touches a buffer at one element per point of a small
// tile of constant loops. Serial loops of the tile become unrolled. An initialization of the same
// tile that stands directly in front takes the place of the first copy. Guards that do not depend
// on the loop guard the copies. Where the loop may have no iteration, and the tile lies where only an
// iteration may touch it, as a row does whose number is loaded and that nothing in front initializes, so does the
// question whether it has one.
//
// A sum of many numbers in f32 is added up in parts, each of which begins anew and is added to the tile behind it:
//
//   for k in range(3072):                         for p in range(12):
//     C[i, j] += A * B                     ->       acc[i, j] = -0.0
//                                                   for k in range(p * 256, p * 256 + 256): acc[i, j] += A * B
//                                                   C[i, j] = C[i, j] + acc[i, j]
//
// That is done to the iterations of declared reductions alone (`reduction_note`), where their number is a
// literal, and not where `reduction_lanes_note` asks for one result with 0 or 1.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

struct accumulator_limits {
  std::int64_t register_bytes = 16 * 32;  // of the vector register file
  std::int64_t vector_bytes = 32;         // of one, which shorter vectors fill, too
  std::int64_t scalar_elements = 16;      // of a tile without a vectorized loop
  /// Additions in f32 that make a part of a sum; one of up to half as many again stays whole. 0: all do.
  /// With 256 the tile passes through the first cache once in 256 steps, which costs a product of matrices
  /// about 1 %; what rounding takes from a sum of 3,072 falls to a third (benchmarks/RESULTS.md).
  std::int64_t sum_part = 256;
};

/// Expects vectorized loops innermost (sink_vectors), not yet cut to vectors.
ir::function promote_accumulators(const ir::function& f, const accumulator_limits& limits);

}  // namespace tilewright::pass
