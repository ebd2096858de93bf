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
// rows differ in length, and no branch may depend on it. With `long_rows_note` one branch does: rows that are
// shorter than it says are combined one after the other, since most rows of a matrix with a few very long ones are.
//
//   if n < 16:
//     for k in range(n): Y[i] += X[k]
//   else:
//     (the vectors)
//
// Loops over results each of which is such a sum, as the elements of a sampled product, compute several at a
// time where `sums_together_note` asks for them: a vector of partial results each, which are added up
// together in fewer steps than one after the other.
//
//   for j in range(n):                           for b in range(n // 8):
//     S[j] = 0                                     for u in unroll(8), l in vectorized(16): part[u * 16 + l] = 0
//     for k in range(64):                ->        for v in range(4):
//       S[j] = S[j] + X[k] * Y[q[j], k]              for u in unroll(8), l in vectorized(16):
//                                                      part[u * 16 + l] += X[v * 16 + l] * Y[q[b * 8 + u], ..]
//                                                  ... total[u] = sum of part[u * 16 .. u * 16 + 15]
//                                                  for u in vectorized(8): S[b * 8 + u] = 0 + total[u]
//                                                if n // 8 * 8 < n // 4 * 4: the same for 4 of them
//                                                for j in range(n // 4 * 4, n): one after the other
//
// What whole groups leave is computed by half a group where there is as much, and then one after the other. A loop
// that follows and computes an element of each result, as its product with a value of the pattern, is computed with them.
#pragma once

#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {

using ir::sums_together_note;

ir::function vectorize_reductions(const ir::function& f, const target::cpu& target);

}  // namespace tilewright::pass
