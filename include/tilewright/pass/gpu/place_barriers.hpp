// Barriers where threads of a block meet at memory that they share.
//
//   for k_0 in range(8):                      for k_0 in range(8):
//     S[tx] = A[k_0 * 32 + tx]         ->       S[tx] = A[k_0 * 32 + tx]
//     for k in range(32):                       T.tvm_storage_sync("shared")
//       c[0] = c[0] + S[k]                      for k in range(32):
//                                                 c[0] = c[0] + S[k]
//                                               T.tvm_storage_sync("shared")
//
// The rule: between two accesses that different threads may make of one byte, one of them a store,
// stands a barrier that every thread comes by. Bytes are those of shared memory, with the places that
// `plan_shared_memory` gave, and of global memory that the kernel stores to. Accesses are kept apart by
// nothing else when it can be shown that only one thread makes both: the index of each is a sum in
// which threads are farther apart than the rest is wide, or both stand under one thread's guard.
// Threads of different blocks have no barrier. Conditions that differ between threads move inwards,
// until no barrier stands below them.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels (pass/gpu/unify_threads.hpp); barriers that are there stay.
/// @throws build_error where a barrier is needed that not all threads of a block would reach, and where blocks add to
///         memory atomically that the kernel initializes or reads as well, in blocks that are not told apart
ir::function place_barriers(const ir::function& f);

}  // namespace tilewright::pass
