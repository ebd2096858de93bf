// Leaves out what a reduction adds for nothing.
//
//   for r, c in grid(4, 512):                              for r, c in grid(4, 512):
//     Y[q] = Y[q] + Select(r % 2 == 0, X[..], 0)    ->       if r % 2 == 0:
//                                                              Y[q] = Y[q] + X[..]
//
// Inside declared reductions the identity of the operator need not be combined, nor a product of which a
// factor is the literal 0 but where a remainder fits, as in a transposed convolution: infinity times such a
// zero is left out, too, unless the block asks for its terms one after the other
// (`reduction_lanes_note` 0 or 1). It applies where the condition is the same for all lanes, so that it
// becomes a branch that later moves out of inner loops.
//
// Nothing is left out of a function that keeps the order of its terms (ir/term_order.hpp).
//
// Other products with 0 are left out where a block says by `skip_zeros_note` that this is as good:
//
//   Y[q] = Y[q] + if_then_else(1 <= q + s, X[q + s - 1], 0) * F[s]
//   ->
//   if 1 <= q + s:
//     Y[q] = Y[q] + X[q + s - 1] * F[s]
#pragma once

#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

using ir::skip_zeros_note;

/// Works on the loops of lower_blocks; vectorized loops innermost.
ir::function skip_identities(const ir::function& f);

}  // namespace tilewright::pass
