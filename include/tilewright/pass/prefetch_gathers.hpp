// Rows that are read through indices are asked for before they are needed.
//
// The processor foresees where a walk along an array goes, not where the indices in it lead. How far
// ahead it pays to look depends on the pattern, so that schedules say it and searches draw it.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Puts `prefetch(element)` before each loop over lanes that loads a row whose number is read from
/// memory, inside of a loop with `prefetch_note` (ir/loop_notes.hpp). The index stays in its array, so
/// that the element exists.
/// ```
/// for k in serial(.., prefetch 8):              for k in ..:
///   for j in vectorized(16):              ->      prefetch(B[q[min(a + k + 8, n - 1)], 0])
///     C[j] = C[j] + .. * B[q[a + k], j]           for j in vectorized(16): ..
/// ```
ir::function prefetch_gathers(const ir::function& f);

}  // namespace tilewright::pass
