// Moves vectorized loops inside every other loop.
//
//   for j in vectorized(16):            for i in unroll(6):
//     for i in unroll(6):        ->       for j in vectorized(16):
//       C[i, j] = ...                       C[i, j] = ...
//
// The iterations of a vectorized loop are independent, so statements may run for all lanes one
// after the other. A loop that cannot be moved (a store that does not depend on the lane or adds to what
// another lane may have added to, an inner extent that does, another vectorized loop inside) becomes serial.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// After it vectorized loops hold no loop and no allocation.
ir::function sink_vectors(const ir::function& f);

}  // namespace tilewright::pass
