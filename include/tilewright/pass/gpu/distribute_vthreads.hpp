// Virtual threads as unrolled loops around what differs between them.
//
//   for v in thread(2, "vthread.x"):                  for k in range(8):
//     for k in range(8):                                S[tx] = A[k * 32 + tx]
//       S[tx] = A[k * 32 + tx]                  ->      for v in unroll(2):
//       c[v] = c[v] + S[v * 16]                           c[v] = c[v] + S[v * 16]
//
// What is the same for all virtual threads is done once; the rest is done for each of them, as far
// inside as possible, so that they share barriers and what they read. A local buffer whose elements
// do not lie apart gets one copy for each.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function without blocks. Virtual threads do not depend on each other.
/// @throws build_error for a loop on virtual threads whose extent is no constant
ir::function distribute_vthreads(const ir::function& f);

}  // namespace tilewright::pass
