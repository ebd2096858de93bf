// Turns guards around the whole body of a loop into bounds of the loop.
//
//   for k in range(32):                         for k in range(min(32, 129 - k0*32)):
//     if k0*32 + k < 129:             ->          A[k] = ...
//       A[k] = ...
//
// A loop with constant bounds whose body is a choice by its own variable becomes two loops, so that
// the code of an edge knows where it is:
//
//   for i in range(3):                          for i in range(2):
//     if i < 2: A[i] = ..                 ->      A[i] = ..
//     else: B[i] = ..                           for i in range(2, 3):
//                                                 B[i] = ..
//
// So does one whose choice asks other things as well, where an iteration does little; these are asked before it:
//
//   for w in range(28):                         if 1 <= h:
//     if 1 <= h and 1 <= w: A[h, w] = ..          for w in range(1): B[h, w] = ..
//     else: B[h, w] = ..                ->        for w in range(1, 28): A[h, w] = ..
//                                               else:
//                                                 for w in range(28): B[h, w] = ..
//
// A loop of which a remainder lets one iteration in so many through runs over these alone, as the taps of a
// transposed convolution that meet an element:
//
//   for s in range(3):                          for s in range(1):
//     if (q - s) % 3 == 0: A[s] = ..      ->      A[q % 3 + s * 3] = ..
//
// One on whose remainder choices in code of constant size depend is written out for each remainder:
//
//   for s in range(4):                          for t in range(2):
//     for k in range(256):                        for u in unroll(2):
//       for h in unroll(2):              ->         for k in range(256):
//         if (h + s) % 2 == 0: A[h] += ..             for h in unroll(2):
//                                                       if (h + t * 2 + u) % 2 == 0: A[h] += ..
//
// Serial loops take symbolic bounds; unrolled and vectorized ones, and small serial loops of a
// register tile, only constant ones.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

ir::function trim_loops(const ir::function& f);

}  // namespace tilewright::pass
