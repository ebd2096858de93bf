// Warps with roles: those of one group more ask the copy engine for boxes, the others multiply, and no step has a barrier
// that all of them reach. A loop with the annotation `tilewright.producer` asks for it.
//
//   for ty in thread(2), tx in thread(128):           for ty in thread(3), tx in thread(128):
//     zeros                                             (counters of arrivals)
//     roles:                                            if ty == 2:
//       for k: wait for E, boxes               ->         tw_fewer_registers(40)
//       for k: wait for F, products, arrive at E          if tx == 0:
//     results                                               for k: wait for E, boxes
//                                                       else:
//                                                         tw_more_registers(232)
//                                                         zeros
//                                                         for k: wait for F, products, arrive at E
//                                                         results
//
// The producer's part of a kernel is what stands around its loop, loops and conditions; all else is the consumers', whose
// barriers become barriers of their own (tw_barrier_of). One lane of each warp arrives for all of it. Where two or three
// groups multiply in a block that has its multiprocessor alone, they take registers that the producer does not need.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels with barriers and products in order (pass/gpu/order_products.hpp), where pass/gpu/pipeline_loops.hpp has
/// told the roles apart. Kernels without roles stay as they are.
/// @throws build_error where a kernel has several such loops, where threads do not agree on what stands around one, where a
///         condition stands between it and a loop around, or where groups of warps lie along two axes
ir::function specialize_warps(const ir::function& f);

}  // namespace tilewright::pass
