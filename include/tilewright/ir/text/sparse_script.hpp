// Sparse programs as text: SparseTIR's dialect of TVMScript.
//
//     @T.prim_func
//     def spmv(A_indptr: T.Buffer((5,), "int32"), A_indices: T.Buffer((9,), "int32"), A: ..., ...):
//         I = T.dense_fixed(4)
//         K = T.sparse_variable(I, (6, 9), (A_indptr, A_indices))
//         A_1 = T.match_sparse_buffer(A, (I, K))
//         with T.sp_iter([I, K], "SR", "y") as [vi, vk]:
//             with T.init():
//                 y[vi] = T.float32(0)
//             y[vi] = y[vi] + A_1[vi, vk] * x[vk]
//
// Shapes of axes are (length,), (length, nnz) of a variable one, (length, width) of sparse_fixed.
// `default_value=T.float32("inf")` behind the axes of a buffer says what is read where nothing is stored, instead of 0.
// Offsets, indices and storage are parameters with a type of their own, where SparseTIR has handles;
// axes are dense_fixed, dense_variable, sparse_fixed and sparse_variable.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/ir/sparse.hpp>

namespace tilewright::ir {

/// Text that `parse_sparse` reads back into a program that prints equally.
std::string print(const sparse_function& f);

/// Reads one sparse function; any input is safe.
/// @throws parse_error with line, column and what was expected there
sparse_function parse_sparse(std::string_view text);

}  // namespace tilewright::ir
