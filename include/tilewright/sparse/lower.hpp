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
/// Where patterns meet, one block for a row, or for a pair of rows, holds the walk: two sums over what
/// both store, or over what one of them does, are loops that move along both rows; what is read anywhere
/// else is found by binary search, or in a table of a row's places where that row is asked often. Dense axes are loops inside of the walk, and the sums of a row are kept
/// beside their place:
/// ```
/// iteration y [I, intersect(K): reduce]:          for i: block y:
///   y[vi] = y[vi] + A[vi, vk] * B[vi, vk]           p, q = A_indptr[vi], B_indptr[vi]
///                                            ->     while p < A_indptr[vi + 1] and q < B_indptr[vi + 1]:
///                                                     if A_indices[p] == B_indices[q]: sum += A[p] * B[q]
///                                                     (move the one that is behind, or both)
///                                                   y[vi] = sum
/// ```
///
/// Of an iteration with several variable axes, each below the one before, the initialization is a nest of its
/// own, and each axis has a block. Below an axis that another one is attached to, coordinates of the former
/// number the rows of the latter.
///
/// Axes that are fused are one loop over the elements of the last one. Which element of its parent each of them
/// lies below is listed before, by a nest over the rows:
/// ```
/// iteration S [fuse(I, K), J: reduce]:             for i, p in range(n): K_parent[indptr[i] + p] = i
///   S[vi, vk] += X[vi, vj] * Y[vk, vj]      ->     for k in range(nnz), j: block S:
///                                                    S[vk] += X[K_parent[vk], vj] * Y[indices[vk], vj]
/// ```
/// Where the iteration is annotated with `searched_rows_annotation`, each element searches the offsets for its row
/// instead, so that rows are listed in parallel.
///
/// Axes of variable extent beside each other, below one parent, are loops of one block; a dense batch of ragged
/// products is such an iteration.
///
/// It requires: 1) a variable axis of an iteration stands behind the axes above it, and these and the ones before
/// them are spatial where the initialization stays in the block; 2) a sparse buffer is
/// written at the variables of its own axes in their order, or at positions below these that are counted, and read
/// there unless it is one of compressed rows; dense axes behind are indexed as they stand; 3) what is reduced where no patterns meet has the form
/// `C[..] = C[..] op value` with op one of + * max min; 4) one axis is merged, in rows that do not change
/// along it, and none is fused or attached beside.
/// @throws argument_error naming iteration, buffer and requirement
ir::function lower(const ir::sparse_function& f);

}  // namespace tilewright::sparse
