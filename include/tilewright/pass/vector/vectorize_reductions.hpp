// Gives a reduction along contiguous memory several partial results.
//
//   for k in range(1000):                      for l in vectorized(32): part[l] = 0
//     T[i] = T[i] + X[i, k]          ->        for v in range(31):
//                                                for l in vectorized(32): part[l] += X[i, v*32 + l]
//                                              for l in vectorized(8): part[l] += X[i, 992 + l]
//                                              ... part[0] = sum of part;  T[i] = T[i] + part[0]
//
// Only loops that come from declared reductions (`reduction_note`) are reassociated. Without
// annotation this happens for sums, products, maxima, minima, "and" and "or", for positions of maxima
// and minima with ties to the smaller one, and for folds with a `reducer_note`, whose operands lie
// side by side along the innermost loop and that have at least two vectors of iterations;
// `reduction_lanes_note` asks for a number of partial results, a power of two, or with 0 or 1 for
// none.
//
// A loop whose extent is no literal, such as the walk of a row of a sparse matrix, has partial results
// only where that annotation asks for them. What its whole vectors leave is one more under a mask:
// rows differ in length, and no branch may depend on it.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

ir::function vectorize_reductions(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
