// From coordinates to positions: sparse iterations as ordinary blocks (SparseTIR, ASPLOS 23, section
// 3.3, stages I to III).
#pragma once

#include <tilewright/config.hpp>
#include <tilewright/ir/sparse.hpp>

namespace tilewright::sparse {

/// The program on flat storage, as blocks that every dense primitive takes. Axes before the first
/// variable one become the loops of an outer block, `NAME_o`; the extents of the others, which
/// depend on its position, are constants inside of it:
/// ```
/// iteration C [I: spatial, K: reduce, J: spatial]      for i in range(m):
///   init C[vi, vj] = 0                                   with block("C_o"):
///   C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]          vi = axis.spatial(m, i)
///                                                          for k in range(max(n, 1)):
///                                                   ->       for j in range(..):
///                                                              with block("C"):
///                                                                init C[vi, vj] = 0
///                                                                C[vi, vj] = C[vi, vj] +
///                                                                  if_then_else(vk < n, A[indptr[vi] + vk] *
///                                                                    B[indices[indptr[vi] + vk], vj], 0)
/// ```
/// with n = indptr[vi + 1] - indptr[vi]. A row without elements is visited once, so that it is
/// initialized, and adds the identity; `pass::lower` makes bounds of that condition.
///
/// Iterations over the rows of one pattern that follow each other, where each reads on the pattern what
/// an earlier one wrote there, become nests in one block of rows; of what only they use, a row at a
/// time is kept:
/// ```
/// iteration S [I, J, K: reduce]: T[vi, vj] += X[vi, vk] * Y[vj, vk]       for i: block S_o:
/// iteration S_epilogue [I, J]: S[vi, vj] = A[vi, vj] * T[vi, vj]      ->    row = alloc([columns])
///                                                                           for j in range(n), k: row[vj] += ..
///                                                                           for j in range(n): S[..] = A[..] * row[vj]
/// ```
///
/// It requires: 1) the iterations of `f` have at most one variable axis, whose parent is the first
/// axis and spatial; 2) a sparse buffer is read and written at the variables of its own axes in their order; 3)
/// what is reduced has the form `C[..] = C[..] op value` with op one of + * max min.
/// @throws argument_error naming iteration, buffer and requirement
ir::function lower(const ir::sparse_function& f);

}  // namespace tilewright::sparse
