// Straightforward loop nests, built with -O3 -march=native: what a careful programmer writes first.
#include <algorithm>
#include <cmath>

#include "peer.hpp"

namespace bench {
namespace {

template <class Body>
void parallel_rows(int rows, int threads, Body body) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int i = 0; i < rows; ++i) body(i);
}

void gemm(const gemm_problem& g, int threads) {
  parallel_rows(g.m, threads, [&](int i) {
    float* c = g.c + static_cast<long>(i) * g.n;
    std::fill(c, c + g.n, 0.0f);
    for (int k = 0; k < g.k; ++k) {
      const float a = g.a[static_cast<long>(i) * g.k + k];
      const float* b = g.b + static_cast<long>(k) * g.n;
      for (int j = 0; j < g.n; ++j) c[j] += a * b[j];
    }
  });
}

void conv(const conv_problem& v, int threads) {
  const int p_count = v.p(), q_count = v.q();
  parallel_rows(v.n * p_count, threads, [&](int np) {
    const int n = np / p_count, p = np % p_count;
    for (int q = 0; q < q_count; ++q) {
      float* y = v.y + (static_cast<long>(np) * q_count + q) * v.k;
      std::fill(y, y + v.k, 0.0f);
      for (int r = 0; r < v.r; ++r) {
        const int h = p * v.stride + r - v.pad;
        if (h < 0 || h >= v.h) continue;
        for (int s = 0; s < v.s; ++s) {
          const int w = q * v.stride + s - v.pad;
          if (w < 0 || w >= v.w) continue;
          for (int c = 0; c < v.c; ++c) {
            const float x = v.x[((static_cast<long>(n) * v.h + h) * v.w + w) * v.c + c];
            const float* f = v.f + ((static_cast<long>(r) * v.s + s) * v.c + c) * v.k;
            for (int k = 0; k < v.k; ++k) y[k] += x * f[k];
          }
        }
      }
    }
  });
}

void softmax(const softmax_problem& s, int threads) {
  parallel_rows(s.rows, threads, [&](int i) {
    const float* x = s.x + static_cast<long>(i) * s.columns;
    float* y = s.y + static_cast<long>(i) * s.columns;
    float peak = x[0];
    for (int j = 1; j < s.columns; ++j) peak = std::max(peak, x[j]);
    float total = 0;
    for (int j = 0; j < s.columns; ++j) total += y[j] = std::exp(x[j] - peak);
    for (int j = 0; j < s.columns; ++j) y[j] /= total;
  });
}

}  // namespace

peer plain_peer() {
  return {"plain", "",
          [](const gemm_problem& g, int t) {
            return prepared{[=] { gemm(g, t); }, {}};
          },
          [](const conv_problem& v, int t) {
            return prepared{[=] { conv(v, t); }, {}};
          },
          [](const softmax_problem& s, int t) {
            return prepared{[=] { softmax(s, t); }, {}};
          }};
}

}  // namespace bench
