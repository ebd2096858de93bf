// The libraries that dense workloads are compared with, behind one interface.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onednn_convolution.hpp"

namespace bench {

/// What libraries have a function for; `other` only loops compute.
enum class dense_kind {
  product,  // C[b, m, n] = A[b, m, k] B[b, k, n]; row-major
  double_product,
  heads,               // C[b, m, n] = sum over k of Q[m, b, k] V[n, b, k]
  dense_gelu,          // Y[m, n] = gelu(X[m, k] W[k, n] + bias[n])
  convolution,         // Y = X * F
  scaled_convolution,  // Y = relu((X * F) * scale[k] + shift[k])
  softmax,             // rows of X[m, n]
  norm,                // Y[0] = root of the sum of squares of X[m, n]
  layer_norm,          // rows of X[m, n], gamma[n], beta[n], epsilon
  attention,           // Q[b, m, k], K[b, n, k], V[b, n, k], a scale
  chain,               // Y = square(relu(1.5 X + 0.5)) - 1, n numbers
  add_relu,            // Y = relu(A + B), n numbers
  row_sums,            // Y[m] of X[m, n]
  column_sums,         // Y[n] of X[m, n]
  other
};

/// A computation as a library is asked for it; the result is the last of the arguments.
struct dense_shape {
  dense_kind kind = dense_kind::other;
  int batch = 1, m = 1, n = 1, k = 1;
  convolution conv = {};
};

/// The arguments of a computation, in the order of the comments above.
using addresses = void* const*;

/// A peer. `prepare` returns no `run` where the library cannot do one of the kinds it is there for.
struct dense_peer {
  std::string name;
  std::string missing;  // why it is not there; empty when it is
  std::vector<dense_kind> kinds = {};
  std::function<prepared(const dense_shape&, addresses, int threads)> prepare = {};
};

dense_peer eigen_peer();
/// OpenBLAS of Debian and of PyPI (scipy-openblas32), BLIS, and oneMKL of PyPI (mkl): opened at run time, those of PyPI
/// in the folder that BENCH_PEERS names or that the benchmarks were built with.
std::vector<dense_peer> blas_peers();
/// Generates code for products of small matrices, which runs on one thread.
dense_peer libxsmm_peer();
/// oneDNN of Debian and, where the benchmarks were built with it, of PyPI. Each in the user's layout, in the layouts
/// that it prefers, and in those with the conversion of images counted.
std::vector<dense_peer> onednn_peers();

}  // namespace bench
