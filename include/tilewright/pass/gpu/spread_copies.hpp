// Copies that all threads of a block make jointly, spread over these threads.
//
//   with block("A_shared"):                            for c_0 in range(8):
//     T.block_attr({"auto_copy": 1,                      for c_1 in thread(4, "threadIdx.y"):
//                   "vector_bytes": 16})       ->          for c_2 in thread(32, "threadIdx.x"):
//     for i, j in grid(128, 32):                             for v in vectorized(8):
//       A_shared[i, j] = A[.. + i, .. + j]                     A_shared[..] = A[..]
//
// Neighbours in a warp copy what lies side by side. In a function whose warps execute as one
// (annotation `warp_execution` of the root block) a thread of the schedule is a warp, and its 32 lanes
// along threadIdx.x take part. Copies with the annotation `tilewright.tensor_copy` are left to one thread, for
// pass/gpu/tensor/copy_tensors.hpp, where the device has an engine for them.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function with blocks; what it does not know how to spread, every thread copies whole.
/// @param tensor_copies  the device copies boxes of tensors by itself
ir::function spread_copies(const ir::function& f, bool tensor_copies = false);

}  // namespace tilewright::pass
