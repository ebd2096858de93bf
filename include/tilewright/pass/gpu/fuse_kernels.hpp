// One launch of several kernels that do not wait for each other, side by side on blockIdx.x (horizontal fusion).
//
//   for bx in thread(4, "blockIdx.x"):          for bx in thread(10, "blockIdx.x"):
//     for tx in thread(64, "threadIdx.x"):        for tx in thread(64, "threadIdx.x"):
//       B[bx * 64 + tx] = A[bx * 64 + tx]    ->     if bx < 4:
//   for bx in thread(6, "blockIdx.x"):                B[bx * 64 + tx] = A[bx * 64 + tx]
//     for tx in thread(32, "threadIdx.x"):          else:
//       D[bx * 32 + tx] = C[bx * 32 + tx]             if tx < 32:
//                                                       D[(bx - 4) * 32 + tx] = C[(bx - 4) * 32 + tx]
//
// Kernels don't wait for each other where neither stores to a buffer that the other one touches, or both do nothing but
// add to it atomically. Threads of the fused kernel are as many as those of its largest part; where parts have them in
// different shapes, each finds its place from the thread's number, which stays what it was, so that lanes of a warp do,
// too. A part with fewer threads than another one, and with barriers, stays a kernel of its own. Parts share one piece of
// shared memory.
#pragma once

#include <cstdint>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Keeps the note of the root block that asks for it (ir/kernel_notes.hpp) as an attribute of the function.
ir::function note_fusion(const ir::function& f);

/// Works on kernels with barriers and places in shared memory, of a function with that attribute; others stay.
/// @param most_threads  of a block
ir::function fuse_kernels(const ir::function& f, std::int64_t most_threads);

}  // namespace tilewright::pass
