// Calls on pieces of buffers name the first element of each piece.
//
//   tw_mma(C[i, j, 0..7], A[i, 0, 0..7], B[j, 0, 0..7])   ->   tw_mma(C[i, j, 0], A[i, 0, 0], B[j, 0, 0])
//   tw_copy_async(S[c..c+7], A[i..i+7])                   ->   tw_copy_async(S[c], A[i], 8)
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels with barriers: who touches what is asked of all elements, and not asked after it.
ir::function name_pieces(const ir::function& f);

}  // namespace tilewright::pass
