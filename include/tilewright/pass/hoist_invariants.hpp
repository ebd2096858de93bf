// Computes what takes long and is the same in every iteration of a loop once, before the loop.
//
//   for j in range(256):                             let r = rsqrt(V[i] / 256 + epsilon)
//     Y[i, j] = X[i, j] * rsqrt(V[i] / 256 +   ->    for j in range(256):
//               epsilon)                               Y[i, j] = X[i, j] * r
//
// Quotients, what something else is divided by, and function values of floats leave serial loops, as
// far out as they can; none leaves a parallel loop. What loads leaves only loops that compute it in
// every iteration and do not store to what it loads from. What several statements beside each other
// compute, as the tail of a row does after the loop of its whole vectors, is computed once before the
// first of them, if nothing in between stores to what it loads from.
//
// Function values that differ within a loop, but are the same in each of its four or more iterations, are
// read from a table that is filled before the loop, if all of its iterations compute them and the table
// has at most 128 KiB; roots and quotients, if it has at most 8 KiB:
//
//   for h in range(12):                      for d in range(32): table[d] = cos(F[d] * t)
//     for d in range(32):              ->    for h in range(12):
//       Y[h, d] = X[h, d] * cos(F[d] * t)      for d in range(32): Y[h, d] = X[h, d] * table[d]
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

ir::function hoist_invariants(const ir::function& f);

}  // namespace tilewright::pass
