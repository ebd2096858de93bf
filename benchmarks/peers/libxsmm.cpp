// LIBXSMM generates code for a product of matrices of fixed extents.
#include "dense_peer.hpp"

#if BENCH_HAVE_LIBXSMM
#include <libxsmm.h>

namespace bench {
namespace {

/// Column-major, as the library wants it: the transposed of C is that of B times that of A. It is generated for one
/// block of rows, so that its unrolled loops stay small.
prepared product(const dense_shape& s, addresses at) {
  const int rows = s.m % 64 == 0 ? 64 : s.m, lda = s.n, ldb = s.k, ldc = s.n;
  const float alpha = 1, beta = 0;
  const libxsmm_smmfunction code =
      libxsmm_smmdispatch(s.n, rows, s.k, &lda, &ldb, &ldc, &alpha, &beta, nullptr, nullptr);
  if (!code) return {};
  const auto *a = static_cast<const float*>(at[0]), *b = static_cast<const float*>(at[1]);
  auto* c = static_cast<float*>(at[2]);
  return {[=] {
            for (long i = 0; i < s.m; i += rows) code(b, a + i * s.k, c + i * s.n);
          },
          {}};
}

}  // namespace

dense_peer libxsmm_peer() {
  libxsmm_init();
  return {"libxsmm", "", {dense_kind::product}, [](const dense_shape& s, addresses at, int) {
            return product(s, at);
          }};
}

}  // namespace bench

#else

namespace bench {

dense_peer libxsmm_peer() {
  return {"libxsmm", "libxsmm-dev was not installed when the benchmarks were built"};
}

}  // namespace bench
#endif
