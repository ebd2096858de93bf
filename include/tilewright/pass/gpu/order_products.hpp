// Products of warp groups, which go on in the background: what has to be said before they begin, and who waits for them.
//
//   for k in range(8):                                tw_hold_sums(C[0..63])
//     T.async_wait(2)                                 for k in range(8):
//     T.tvm_storage_sync("shared")                      T.async_wait(2)
//     for k_1 in range(4):                              tw_fence_async()
//       tw_multiply_group(C, A[k % 5, ..], ..)    ->    T.tvm_storage_sync("shared")
//   E[i] = C[0]                                         tw_fence_products()
//                                                       for k_1 in range(4):
//                                                         tw_multiply_group(C, A[k % 5, ..], ..)
//                                                       tw_commit_products()
//                                                       tw_wait_products(1)
//                                                     tw_wait_products(0)
//                                                     tw_hold_sums(C[0..63])
//                                                     E[i] = C[0]
//
// Tensor cores read shared memory by a way of their own: what threads have stored there is fenced before the barrier
// behind which others may have it read. Products that stand side by side are one batch. The youngest batch of a loop goes
// on while the next iteration waits for its copies, where the loop has the annotation `products_note` (pipeline_loops sets
// it when every copy goes to memory that the last batch but one has read); otherwise a batch is waited for at once. Nobody
// touches sums before the last batch is done, in loops of such batches or behind them.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels with barriers (pass/gpu/place_barriers.hpp), before pieces are named. Kernels without products of warp
/// groups stay as they are.
/// @throws build_error for products under a condition, on which not all threads of a group may agree
ir::function order_products(const ir::function& f);

}  // namespace tilewright::pass
