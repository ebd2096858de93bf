// Splits off what depends on bound weights alone, so that it runs once and not in every call.
//
//   for i0, j0 in grid(4, 8):                        preparation:
//     allocate P[256, 16]                              for j0 in range(8):
//       for k, j in grid(256, 16):                       for k, j in grid(256, 16):
//         P[k, j] = W[k, j0*16 + j]            ->          P'[j0, k, j] = W[k, j0*16 + j]
//       for i, k, j in grid(6, 256, 16):             main:
//         C[...] += A[...] * P[k, j]                   for i0, j0 in grid(4, 8):
//                                                        for i, k, j in grid(6, 256, 16):
//                                                          C[...] += A[...] * P'[j0, k, j]
//
// A panel becomes one slice of a packed buffer, in the order in which the loops come to it. It does
// not matter how the panel is computed: copies, other layouts, conversions and transforms of a
// weight all move.
#pragma once

#include <vector>

#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// A function and what it needs done once for its weights.
struct prepared {
  /// Parameters: those of the original, then the packed buffers.
  ir::function main;
  /// The same parameters; fills the packed buffers from the weights. No body: nothing to prepare.
  ir::function preparation;
  std::vector<ir::buffer> packed;
};

/// Works on a function without blocks, after compact_buffers. An allocated buffer moves when
/// 1. its values are computed from bound weights that are never written, and before it is read;
/// 2. the loops around it on which the values depend have literal bounds, or occur in them as the
///    digits of a fused loop;
/// 3. conditions around it depend on those loops alone;
/// 4. all slices together take at most four times the memory of the weights; where the function allows its
///    algorithms an error (ir::error_attribute), as Winograd's, which transforms filters, 24 times.
prepared prepare_weights(const ir::function& f);

}  // namespace tilewright::pass
