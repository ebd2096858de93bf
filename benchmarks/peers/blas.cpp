// Libraries with the interface of CBLAS. All export the same names, so each is opened at run time in a scope of its own.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "dense_peer.hpp"

namespace bench {
namespace {

template <class T>
using gemm_function = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha,
                               const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);
using norm_function = float (*)(int n, const float* x, int step);
constexpr int row_major = 101, no_transpose = 111, transpose = 112;

struct blas {
  gemm_function<float> sgemm = nullptr;
  gemm_function<double> dgemm = nullptr;
  norm_function snrm2 = nullptr;
  std::function<void(int)> set_threads;
};

template <class T>
prepared product(const blas& f, gemm_function<T> gemm, const dense_shape& s, addresses at,
                 int threads) {
  const bool heads = s.kind == dense_kind::heads;
  const int lda = heads ? s.batch * s.k : s.k, ldb = heads ? s.batch * s.k : s.n;
  const long a_step = heads ? s.k : static_cast<long>(s.m) * s.k,
             b_step = heads ? s.k : static_cast<long>(s.k) * s.n,
             c_step = static_cast<long>(s.m) * s.n;
  const auto *a = static_cast<const T*>(at[0]), *b = static_cast<const T*>(at[1]);
  auto* c = static_cast<T*>(at[2]);
  return {[=, set = f.set_threads] {
            set(threads);
            for (int i = 0; i < s.batch; ++i)
              gemm(row_major, no_transpose, heads ? transpose : no_transpose, s.m, s.n, s.k, T(1),
                   a + i * a_step, lda, b + i * b_step, ldb, T(0), c + i * c_step, s.n);
          },
          {}};
}

prepared offered(const blas& f, const dense_shape& s, addresses at, int threads) {
  if (s.kind == dense_kind::double_product) return product(f, f.dgemm, s, at, threads);
  if (s.kind == dense_kind::norm)
    return {[=, set = f.set_threads, norm = f.snrm2] {
              set(threads);
              *static_cast<float*>(at[1]) = norm(s.m * s.n, static_cast<const float*>(at[0]), 1);
            },
            {}};
  return product(f, f.sgemm, s, at, threads);
}

/// The folder of tools/bench_peers.sh.
std::filesystem::path peers_folder() {
  const char* named = std::getenv("BENCH_PEERS");
  return named ? named : BENCH_PEERS_FOLDER;
}

/// Files of this name below the folder's `lib`.
std::vector<std::string> in_folder(const std::string& name) {
  std::vector<std::string> out;
  std::error_code none;
  const auto lib = peers_folder() / "lib";
  if (std::filesystem::exists(lib / name, none)) out.push_back((lib / name).string());
  for (const auto& python : std::filesystem::directory_iterator(lib, none)) {
    const auto file = python.path() / "site-packages" / "scipy_openblas32" / "lib" / name;
    if (std::filesystem::exists(file, none)) out.push_back(file.string());
  }
  return out;
}

/// @param prefix of the names that the library exports
/// @param Int the type that its thread setter takes
template <class Int>
dense_peer blas_peer(const char* name, const std::vector<std::string>& files, const char* package,
                     const std::string& prefix, const std::string& thread_setter,
                     int scope = RTLD_LOCAL) {
  dense_peer out;
  out.name = name;
  void* library = nullptr;
  for (const std::string& file : files)
    if (!library) library = dlopen(file.c_str(), RTLD_NOW | scope);
  const auto find = [&](const std::string& function) {
    return library ? dlsym(library, function.c_str()) : nullptr;
  };
  blas f;
  f.sgemm = reinterpret_cast<gemm_function<float>>(find(prefix + "cblas_sgemm"));
  f.dgemm = reinterpret_cast<gemm_function<double>>(find(prefix + "cblas_dgemm"));
  f.snrm2 = reinterpret_cast<norm_function>(find(prefix + "cblas_snrm2"));
  const auto set = reinterpret_cast<void (*)(Int)>(find(thread_setter));
  if (!f.sgemm || !f.dgemm || !f.snrm2 || !set) {
    out.missing = std::string("no library with cblas_sgemm was found; it is in ") + package;
    return out;
  }
  f.set_threads = [set](int threads) { set(static_cast<Int>(threads)); };
  out.kinds = {dense_kind::product, dense_kind::double_product, dense_kind::heads,
               dense_kind::norm};
  out.prepare = [f](const dense_shape& s, addresses at, int threads) {
    return offered(f, s, at, threads);
  };
  return out;
}

}  // namespace

std::vector<dense_peer> blas_peers() {
  std::vector<dense_peer> out;
  out.push_back(blas_peer<int>(
      "openblas",
      {"/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0", "libopenblas.so.0"},
      "libopenblas0-pthread of Debian", "", "openblas_set_num_threads"));
  out.push_back(blas_peer<int>("openblas_pypi", in_folder("libscipy_openblas.so"),
                               "scipy-openblas32 of PyPI (tools/bench_peers.sh)", "scipy_",
                               "scipy_openblas_set_num_threads"));
  out.push_back(blas_peer<long>(
      "blis", {"/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4", "libblis.so.4"},
      "libblis4-openmp of Debian", "", "bli_thread_set_num_threads"));
  // oneMKL opens further libraries, which look for its names, and runs on the OpenMP of this program.
  setenv("MKL_THREADING_LAYER", "GNU", 0);
  std::vector<std::string> mkl;
  for (const char* file : {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"})
    for (const std::string& found : in_folder(file)) mkl.push_back(found);
  out.push_back(
      blas_peer<int>("mkl", mkl, "mkl of PyPI (tools/bench_peers.sh)", "", "MKL_Set_Num_Threads"));
  return out;
}

}  // namespace bench
