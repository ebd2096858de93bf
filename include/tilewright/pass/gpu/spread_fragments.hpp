// Fragments of tensor cores, spread over the lanes of a warp.
//
//   for i, j, k in grid(64, 32, 16):              for i, j in grid(4, 2):
//     C[i, j] = C[i, j] + A[i, k] * B[k, j]  ->     for lane in thread(32, "threadIdx.x"):
//                                                     tw_mma(C[i, j, 0], A[i, 0, 0], ...)
//
// A buffer of scope wmma.matrix_a, wmma.matrix_b or wmma.accumulator becomes one of scope local, whose
// last two dimensions count tiles of 16 x 16, with one more for the 8 elements of a tile that a lane has
// (impl/pass/gpu/fragments/fragment_layout.hpp). Statements are told by what they do, whatever blocks they came
// from: a sum of products of fragments becomes a call of `tw_mma`; a copy from shared memory, rows of 16
// bytes of it side by side, one of `tw_load_matrix` or `tw_load_transposed`; all others are done
// element by element, each lane those that it has. The arguments of a call are the first elements of the pieces
// that the lane touches (impl/pass/gpu/pieces.hpp).
//
// A buffer of scope wmma.rows has a number for each row of a tile of sums, which the four lanes that hold the row
// all have, two rows to a lane. Such numbers may stand beside elements of their rows. A reduction over columns,
// `R[i] = max(R[i], x)` in two loops, x made of elements of row i, combines what each lane has and then four lanes by
// shuffles. Sums rounded to 16 bits become a first operand where they lie: both have one layout.
//
// Of bytes two tiles along the reduction are multiplied at once (`tw_mma_pair`) where its loop is a multiple of 32.
// Second operands of bytes that lie transposed are loaded as pairs of columns, which changes the layout of their
// fragments and of the sums. Shared memory from which elements of 4 bytes are loaded one by one in columns gets the
// scope "shared.columns", which pass/gpu/swizzle_shared.hpp spreads over the banks.
//
// A buffer of scope wgmma.accumulator is spread over the 128 lanes of four warps, its tiles have 64 rows. A sum of products
// of two buffers in shared memory becomes what they multiply together (impl/pass/gpu/groups/group_product.hpp), and these
// buffers get the scope "shared.panels".
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on a function without blocks. The loops that run over a tile have constant extents, multiples of
/// 16, or of 64 where rows are those of a warp group, and stand around nothing else.
/// @throws build_error for a use of fragments that tensor cores do not have
ir::function spread_fragments(const ir::function& f);

}  // namespace tilewright::pass
