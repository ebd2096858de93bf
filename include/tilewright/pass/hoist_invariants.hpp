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
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

ir::function hoist_invariants(const ir::function& f);

}  // namespace tilewright::pass
