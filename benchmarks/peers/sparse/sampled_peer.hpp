// What sampled products and attention over a pattern are compared with: no library of this machine has
// them, so that these are loops as a user of Eigen would write them.
#pragma once

#include <functional>
#include <string>

#include "../../problems/sparse_matrices.hpp"

namespace bench {

/// S(i, j) = A(i, j) * x(i, :) y(j, :) at the elements of A; with `v` the product of v with the softmax of
/// the rows of S, too.
struct sampled_problem {
  const sparse_matrix* a;
  int depth;
  const float* x;  // [a.rows, depth]
  const float* y;  // [a.columns, depth]
  const float* v;  // [a.columns, depth]; null: the sampled product alone
  float* result;   // [nonzeros], or with `v` [a.rows, depth]
};

/// One dot product of Eigen's per element.
void sampled_by_eigen(const sampled_problem& p);
/// Eight elements of a row at a time in intrinsics of AVX-512, whose dot products are added up together.
/// @returns false, and does nothing, where this is compiled for a machine without them
bool sampled_by_hand(const sampled_problem& p);
/// PyTorch's `sampled_addmm` of compressed rows, times the values, in a process of its own (python_sparse.cpp). The
/// first call writes the result.
/// @param missing why it is not there; empty when it is
/// @returns what is timed, which tells how long it took; s
std::function<double()> sampled_by_torch(const sampled_problem& p, std::string& missing);
/// A row at a time: its scores, its exponentials by Eigen's array functions, and the sum of rows of `v`.
void attention_by_eigen(const sampled_problem& p);

}  // namespace bench
