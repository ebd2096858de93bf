// The libraries that Tilewright is compared with, behind one interface.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// C = A B; row-major, contiguous. a: [m, k], b: [k, n], c: [m, n]
struct gemm_problem {
  int m, n, k;
  const float* a;
  const float* b;
  float* c;
};

/// 2-d convolution; x: [n, h, w, c], f: [r, s, c, k], y: [n, p, q, k], all row-major, contiguous.
struct conv_problem {
  int n, h, w, c, k, r, s, stride, pad;
  int p() const { return (h + 2 * pad - r) / stride + 1; }
  int q() const { return (w + 2 * pad - s) / stride + 1; }
  const float* x;
  const float* f;
  float* y;
};

/// Softmax over the last dimension; x, y: [rows, columns], row-major, contiguous.
struct softmax_problem {
  int rows, columns;
  const float* x;
  float* y;
};

/// One prepared computation: `run` is what is timed. `fetch`, if set, brings the result into the
/// problem's output afterwards, for peers that compute in a layout of their own.
struct prepared {
  std::function<void()> run;
  std::function<void()> fetch;
};

/// A peer; a workload it does not offer is an empty function. Each prepares for a thread count.
struct peer {
  std::string name;
  std::string missing;  // why it is not there; empty when it is
  std::function<prepared(const gemm_problem&, int threads)> gemm;
  std::function<prepared(const conv_problem&, int threads)> conv;
  std::function<prepared(const softmax_problem&, int threads)> softmax;
};

peer plain_peer();
peer eigen_peer();
peer openblas_peer();
peer blis_peer();
std::vector<peer> onednn_peers();  // the user's layout, and the best layout it can choose

}  // namespace bench
