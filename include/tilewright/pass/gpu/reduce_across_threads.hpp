// Reductions whose iterations are threads: each thread reduces its part, then the threads exchange.
//
//   for k_0 in range(4):                            for k_1 in thread(32, "threadIdx.x"):
//     for k_1 in thread(32, "threadIdx.x"):           part[0] = 0
//       C[i] = C[i] + A[i, k_0 * 32 + k_1]   ->       for k_0 in range(4):
//                                                       part[0] = part[0] + A[i, k_0 * 32 + k_1]
//                                                     part[0] = part[0] + shuffle_xor(part[0], 16, 32)
//                                                     ...                                    8, 4, 2, 1
//                                                     if k_1 == 0: C[i] = C[i] + part[0]
//
// Up to 32 threads, a power of two along threadIdx.x, exchange within a warp; more of them write what
// each warp has to shared memory and add that; other numbers and axes use shared memory alone. What
// each thread has for itself, scope "local", every thread stores.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

struct thread_reduction_options {
  bool shuffles = true;  // false: shared memory alone, which the interpreter can run
};

/// Works on a function without blocks. The barriers of shared memory are left to `place_barriers`.
/// @throws build_error for a reduction across threads that is none of the reducers known
ir::function reduce_across_threads(const ir::function& f,
                                   const thread_reduction_options& options = {});

}  // namespace tilewright::pass
