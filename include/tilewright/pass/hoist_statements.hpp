// Runs statements that are the same in every iteration of a loop once, before the loop.
//
//   for j in range(256):                         for k in range(256):
//     for k in range(256):                         with block("T"):
//       with block("T"):                             T[i] = T[i] + X[i, k]
//         T[i] = T[i] + X[i, k]            ->    for j in range(256):
//     with block("Y"):                             with block("Y"):
//       Y[i, j] = X[i, j] / T[i]                     Y[i, j] = X[i, j] / T[i]
//
// Schedules make such loops where they compute a block inside of a loop that it does not depend on; what
// is left in the loop is often a nest that lanes suit. Values that leave loops, as parts of expressions,
// are those of hoist_invariants.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function with blocks. Statements that stand directly in the body of a serial or unrolled
/// loop of at least two iterations, or in that of loops of one iteration inside of it, leave it together,
/// and go on to loops around it, when
/// 1. they do not use the loop's variable, and do nothing but store to buffers that blocks allocate;
/// 2. what stays in the loop stores to none of the buffers that they store to or load from;
/// 3. of what they store to, no iteration loads what only an earlier one has stored, which is proved.
ir::function hoist_statements(const ir::function& f);

}  // namespace tilewright::pass
