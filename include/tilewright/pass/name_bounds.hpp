// Bounds of loops that are read from memory get names.
//
// A loop over a row of a sparse matrix runs between two offsets. As loads they are values that
// nothing is known of, perhaps other ones at every look; as variables they are constants of the
// loop, of which guards become bounds and addresses become sums.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Binds each load in the bounds of a loop to a variable, as far out as its index allows, and puts
/// the variable in the place of the load everywhere below:
/// ```
/// for i in ..:                                   for i in ..:
///   for k in range(p[i + 1] - p[i]):      ->       let b = p[i + 1], a = p[i]
///     .. q[p[i] + k] ..                            for k in range(b - a):
///                                                    .. q[a + k] ..
/// ```
/// Only loads of buffers that the function does not write, whose indices are known where the
/// variable is bound. The input has no blocks.
ir::function name_bounds(const ir::function& f);

}  // namespace tilewright::pass
