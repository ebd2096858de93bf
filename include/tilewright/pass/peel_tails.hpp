// Gives the edge of a tiled dimension code of its own, of constant size.
//
//   for i0 in range(22):                        for i0 in range(22):
//     for k in range(64):                         if i0*6 <= 121:
//       for i1 in unroll(6):            ->          for k ..: for i1 in unroll(6): C[i0*6 + i1] +=
//       ...
//         if i0*6 + i1 < 127:                     else:
//           C[i0*6 + i1] += ...                     for k ..: for i1 in unroll(1): C[i0*6 + i1] +=
//           ...
//
// A guard is split into what the tile loops contribute and what the loops around them do. The
// question whether the tile is whole is asked once, in the innermost loop that has a say, in front
// of everything inside: a reduction loop is cut in two instead, so that its body keeps no branch.
// Where the tile is cut, the remaining size is one constant, because the outer part is a multiple
// of the tile. Conditions of `if_then_else` (padding) get a version of the code in which they all
// hold, beside the original. Parts that some lanes of every tile fail stay conditions of the lanes, and the
// rest is asked before them: no row outside of an image is loaded under a mask without lanes. Vectors that
// read at clamped indices along their lanes have two versions, too: they read side by side in one and, where
// they touch the edge, all but the lanes beyond it in the other. A scalar that the lanes of one vector of a sum share has
// one store, and its condition there: two would keep the sum out of registers. Copies are made while the number of stores
// stays below a bound; after that guards stay.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Stores that the function may grow to: `growth_base` + `growth_factor` times what it had.
struct peel_limits {
  int growth_base = 24;
  int growth_factor = 12;
};

/// Expects guards in the outermost place (simplify_loops); its result wants simplify_loops and
/// trim_loops.
ir::function peel_tails(const ir::function& f, const peel_limits& limits = {});

}  // namespace tilewright::pass
