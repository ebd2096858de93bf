// OpenBLAS and BLIS. Both export cblas_sgemm, so each is opened at run time in a scope of its own.
#include <dlfcn.h>

#include "peer.hpp"

namespace bench {
namespace {

using sgemm_function = void (*)(int order, int trans_a, int trans_b, int m, int n, int k,
                                float alpha, const float* a, int lda, const float* b, int ldb,
                                float beta, float* c, int ldc);
constexpr int row_major = 101, no_transpose = 111;

/// `Int` is the integer type that the library's thread setter takes.
template <class Int>
peer blas_peer(const char* name, std::vector<const char*> files, const char* thread_setter) {
  peer out;
  out.name = name;
  void* library = nullptr;
  for (const char* file : files)
    if (!library) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  const auto sgemm =
      library ? reinterpret_cast<sgemm_function>(dlsym(library, "cblas_sgemm")) : nullptr;
  const auto set_threads =
      library ? reinterpret_cast<void (*)(Int)>(dlsym(library, thread_setter)) : nullptr;
  if (!sgemm || !set_threads) {
    out.missing = std::string(files.front()) + " with cblas_sgemm was not found";
    return out;
  }
  out.gemm = [=](const gemm_problem& g, int threads) {
    return prepared{[=] {
                      set_threads(threads);
                      sgemm(row_major, no_transpose, no_transpose, g.m, g.n, g.k, 1.0f, g.a, g.k,
                            g.b, g.n, 0.0f, g.c, g.n);
                    },
                    {}};
  };
  return out;
}

}  // namespace

peer openblas_peer() {
  return blas_peer<int>(
      "openblas",
      {"/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0", "libopenblas.so.0"},
      "openblas_set_num_threads");
}

peer blis_peer() {
  return blas_peer<long>("blis",
                         {"/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4", "libblis.so.4"},
                         "bli_thread_set_num_threads");
}

}  // namespace bench
