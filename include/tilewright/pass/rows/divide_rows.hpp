// Rows of a sparse matrix are divided among tasks, of which each has as much to do as the others.
//
// Where rows differ by orders of magnitude, no sharing out of whole rows is even: one thread has the long row, or the only one. The
// ends of rows and their elements, merged, are a list of which every task takes an equal part (Merrill and Garland,
// SC 16: the merge path); where its part begins and ends is searched in the offsets. A row belongs to the task that
// has its end, and no other one writes it. What a task has of the row behind, it keeps apart in a row of its own.
//
//   for i in parallel(n):                         for t in parallel(8):
//     C[i] = 0                                      r = first row that ends in t, s = first that ends behind
//     for k in range(p[i + 1] - p[i]):      ->      for i in range(r, s):
//       C[i] = C[i] + A[p[i] + k]                     C[i] = 0
//                                                     for k in the elements of i from where t begins:
//                                                       C[i] = C[i] + A[..]
//                                                   end[t] = s
//                                                   rest[t] = 0
//                                                   for k in the elements of s up to where t ends:
//                                                     rest[t] = rest[t] + A[..]
//                                                 for t in range(8):
//                                                   if end[t] < n: C[end[t]] = C[end[t]] + rest[t]
//
// Row r begins at offsets[r] + r on that path and ends at offsets[r + 1] + r; part t of T begins at w = t * (elements + rows) / T.
// A task looks for the first row that ends at w or later, which it may begin inside of. Loops that are shared out by whole rows ask
// for the first one that begins there (impl/backend/llvm/balanced_chunks.hpp): code of its own, since how many chunks
// there are is known when the loop runs, behind all passes.
//
// What is added last is added in the order of tasks, so that results depend on the number of tasks, and not on which
// thread comes first.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Divides parallel loops that have `balance_annotation` and `tasks_annotation` (ir/sparse.hpp).
///
/// A loop is left as it is, to be shared out by whole rows, unless: 1. it stores to one buffer alone, at one place in
/// those dimensions that depend on the row, and the others have literal extents; 2. each store either begins a result or is a step of a
/// sum, product, maximum, minimum, "and" or "or" within a walk of the elements of the row; 3. what a step combines
/// depends on its element, not on how many there are before it. Nor is one divided in a function that keeps the order of its
/// terms.
ir::function divide_rows(const ir::function& f);

}  // namespace tilewright::pass
