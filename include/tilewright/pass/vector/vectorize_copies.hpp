// Gives vectors to loops that store, side by side, what they do not read.
//
//   for j in range(217):                       for j in vectorized(217):
//     P[i, j] = X[.., j * 3] if 3 <= j else 0    P[i, j] = X[.., j * 3] if 3 <= j else 0
//
// Pixels with fewer channels than a vector has lanes are copied as one row (impl/pass/vector/joined_copy.hpp).
//
// Elements that lie apart in a buffer as it was declared lie side by side in one that is as small as it can
// be: what a schedule stages for one channel has no other channels. So the pass stands behind
// compact_buffers, where vectorize_unmarked is too early.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::target {
struct cpu;
}

namespace tilewright::pass {

/// Works on loops without blocks. A loop is vectorized when
/// 1. it is serial, has literal bounds with 16 bytes of what is stored at least, and is no reduction;
/// 2. it holds nothing but one store, or one below a condition that loads nothing;
/// 3. the element stored moves by one along it and every element loaded by 0 to 4, and none is loaded from
///    the buffer that is stored to.
/// A serial loop around one that is shorter than a vector, serial or vectorized, becomes one vectorized loop with
/// it, over the elements of a row of pixels, when
/// 4. both begin at 0, have literal extents of two at least and are no reductions, and 2 holds of the inner one;
/// 5. the elements stored and loaded move by one from each channel to the next, pixels' ends included, or, loaded
///    ones, never; what is stored is one of these or a value of neither loop, or a choice of such;
/// 6. each comparison in conditions has the outer loop's variable with the factor 1 or -1, or neither variable.
ir::function vectorize_copies(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
