// Leaves out what a reduction adds for nothing.
//
//   for r, c in grid(4, 512):                              for r, c in grid(4, 512):
//     Y[q] = Y[q] + Select(r % 2 == 0, X[..], 0)    ->       if r % 2 == 0:
//                                                              Y[q] = Y[q] + X[..]
//
// Inside declared reductions the identity of the operator need not be combined. It applies where
// the condition is the same for all lanes, so that it becomes a branch that later moves out of
// inner loops.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on the loops of lower_blocks; vectorized loops innermost.
ir::function skip_identities(const ir::function& f);

}  // namespace tilewright::pass
