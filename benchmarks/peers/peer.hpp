// What every peer gives back, and the products and convolutions that peers are asked for.
#pragma once

#include <functional>

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

/// One prepared computation: `run` is what is timed. `fetch`, if set, brings the result into the
/// problem's output afterwards, for peers that compute in a layout of their own.
struct prepared {
  std::function<void()> run;
  std::function<void()> fetch;
};

}  // namespace bench
