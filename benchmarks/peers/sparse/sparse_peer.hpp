// Sparse libraries that Tilewright is compared with, behind one interface.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../../problems/sparse_matrices.hpp"

namespace bench {

/// C = A B; b: [a.columns, columns], c: [a.rows, columns], row-major. Peers take one column as a vector,
/// with their routine for that.
struct spmm_problem {
  const sparse_matrix* a;
  int columns;
  const float* b;
  float* c;
  int threads = 1;
};

/// Y(i, :) = sum over the stored j of A(i, j) of X(j, :) W[kind of (i, j)]; all row-major.
struct relation_problem {
  const sparse_matrix* a;  // kinds in the place of values
  std::int32_t kinds;
  int in, out;     // features
  const float* x;  // [a.columns, in]
  const float* w;  // [kinds, in, out]
  float* y;        // [a.rows, out]
};

/// With Eigen, a sparse and a dense product for each kind, one after the other.
/// @param weights_first features go through the weights before they are added up
std::function<void()> relations_by_eigen(const relation_problem& p, bool weights_first);

/// A peer. `prepare` does what may be done once for a pattern and returns what is timed.
struct sparse_peer {
  std::string name;
  std::string missing;  // why it is not there; empty when it is
  std::function<std::function<void()>(const spmm_problem&)> prepare = {};
  /// Instead, where it tells itself how long a run took. // s
  std::function<std::function<double()>(const spmm_problem&)> prepare_timed = {};
  bool threaded = false;  // it takes several threads
  /// Whether it has kernels for a problem; empty: for all.
  std::function<bool(const spmm_problem&)> takes = {};
};

/// Reads the arrays of the matrix and the other operand once, in vectors, and writes the result: what the memory
/// or cache that they lie in allows. It computes nothing.
std::function<void()> read_once(const spmm_problem& p);

/// Three loops, the innermost over the columns, compiled for this machine.
sparse_peer plain_sparse_peer();
/// Eigen::SparseMatrix<float, RowMajor> times a row-major matrix.
sparse_peer eigen_sparse_peer();
/// oneMKL's inspector-executor routines (mkl_sparse_s_mm, _mv), with the hint of many calls; opened at
/// run time: BENCH_MKL names libmkl_rt.so, else the loader looks for it.
/// @param threads that it runs on; with several its OpenMP layer is needed
sparse_peer mkl_sparse_peer(int threads = 1);
/// LIBXSMM's product of a sparse and a dense matrix (libxsmm_spmdm), where the build finds the library: slices of
/// 128 x 128 in compressed rows, made once of the dense matrix. For matrices of up to 2^24 places and several columns.
sparse_peer libxsmm_sparse_peer();
/// "scipy" or "torch", whose products of compressed rows run in a process of their own: BENCH_PYTHON names a
/// Python that has the module.
sparse_peer python_sparse_peer(const std::string& engine);

}  // namespace bench
