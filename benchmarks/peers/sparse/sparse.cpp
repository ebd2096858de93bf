#include <dlfcn.h>

#include <Eigen/Sparse>
#include <cstdlib>
#include <memory>
#include <vector>

#include "sparse_peer.hpp"

namespace bench {
namespace {

// Prototypes and constants of mkl_spblas.h and mkl_service.h, LP64.
struct mkl_descriptor {
  int type, mode, diagonal;
};
constexpr int mkl_general = 20, mkl_plain = 10, mkl_zero_based = 0, mkl_rows = 101,
              mkl_sequential = 1, mkl_gnu = 3;
using mkl_handle = void*;

struct mkl_functions {
  int (*create)(mkl_handle*, int base, int rows, int columns, int* begin, int* end, int* indices,
                float* values);
  int (*hint)(mkl_handle, int operation, mkl_descriptor, int layout, int columns, int calls);
  int (*vector_hint)(mkl_handle, int operation, mkl_descriptor, int calls);
  int (*optimize)(mkl_handle);
  int (*multiply)(int operation, float alpha, mkl_handle, mkl_descriptor, int layout,
                  const float* b, int columns, int ldb, float beta, float* c, int ldc);
  int (*multiply_vector)(int operation, float alpha, mkl_handle, mkl_descriptor, const float* b,
                         float beta, float* c);
  int (*destroy)(mkl_handle);
};

/// The library's functions; `why` says what is missing.
const mkl_functions* open_mkl(std::string& why, int threads) {
  const char* named = std::getenv("BENCH_MKL");
  void* library = nullptr;
  for (const char* name : {named ? named : "", "libmkl_rt.so", "libmkl_rt.so.2", "libmkl_rt.so.3"})
    if (!library && *name) library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    why = "libmkl_rt.so is not found; install the package mkl and name the file in BENCH_MKL";
    return nullptr;
  }
  static mkl_functions f;
  bool all = true;
  const auto take = [&](auto& to, const char* name) {
    to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(::dlsym(library, name));
    all = all && to;
  };
  int (*layer)(int) = nullptr;
  void (*count)(int) = nullptr;
  take(layer, "MKL_Set_Threading_Layer");
  take(count, "MKL_Set_Num_Threads");
  take(f.create, "mkl_sparse_s_create_csr");
  take(f.hint, "mkl_sparse_set_mm_hint");
  take(f.vector_hint, "mkl_sparse_set_mv_hint");
  take(f.optimize, "mkl_sparse_optimize");
  take(f.multiply, "mkl_sparse_s_mm");
  take(f.multiply_vector, "mkl_sparse_s_mv");
  take(f.destroy, "mkl_sparse_destroy");
  if (!all) {
    why = "the library lacks a function of the sparse BLAS";
    return nullptr;
  }
  layer(threads > 1 ? mkl_gnu : mkl_sequential);
  count(threads);
  return &f;
}

std::function<void()> prepare_mkl(const mkl_functions& f, const spmm_problem& p) {
  auto* a = const_cast<sparse_matrix*>(p.a);
  mkl_handle raw = nullptr;
  f.create(&raw, mkl_zero_based, a->rows, a->columns, a->offsets.data(), a->offsets.data() + 1,
           a->indices.data(), a->values.data());
  const std::shared_ptr<void> matrix(raw, f.destroy);
  const mkl_descriptor general{mkl_general, 0, 0};
  if (p.columns == 1) {
    f.vector_hint(raw, mkl_plain, general, 1000);
    f.optimize(raw);
    return [&f, matrix, general, p] {
      f.multiply_vector(mkl_plain, 1.0f, matrix.get(), general, p.b, 0.0f, p.c);
    };
  }
  f.hint(raw, mkl_plain, general, mkl_rows, p.columns, 1000);
  f.optimize(raw);
  return [&f, matrix, general, p] {
    f.multiply(mkl_plain, 1.0f, matrix.get(), general, mkl_rows, p.b, p.columns, p.columns, 0.0f,
               p.c, p.columns);
  };
}

std::function<void()> prepare_plain_vector(const spmm_problem& p) {
  return [p] {
    const sparse_matrix& a = *p.a;
    for (int i = 0; i < a.rows; ++i) {
      float sum = 0;
      for (int k = a.offsets[static_cast<std::size_t>(i)];
           k < a.offsets[static_cast<std::size_t>(i) + 1]; ++k)
        sum += a.values[static_cast<std::size_t>(k)] * p.b[a.indices[static_cast<std::size_t>(k)]];
      p.c[i] = sum;
    }
  };
}

std::function<void()> prepare_plain(const spmm_problem& p) {
  if (p.columns == 1) return prepare_plain_vector(p);
  return [p] {
    const sparse_matrix& a = *p.a;
    for (int i = 0; i < a.rows; ++i) {
      float* __restrict c = p.c + static_cast<std::ptrdiff_t>(i) * p.columns;
      for (int j = 0; j < p.columns; ++j) c[j] = 0;
      for (int k = a.offsets[static_cast<std::size_t>(i)];
           k < a.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const float value = a.values[static_cast<std::size_t>(k)];
        const float* __restrict b =
            p.b + static_cast<std::ptrdiff_t>(a.indices[static_cast<std::size_t>(k)]) * p.columns;
        for (int j = 0; j < p.columns; ++j) c[j] += value * b[j];
      }
    }
  };
}

std::function<void()> prepare_eigen(const spmm_problem& p) {
  using dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const sparse_matrix& a = *p.a;
  const Eigen::Map<const Eigen::SparseMatrix<float, Eigen::RowMajor>> left(
      a.rows, a.columns, a.nonzeros(), a.offsets.data(), a.indices.data(), a.values.data());
  if (p.columns == 1) {
    const Eigen::Map<const Eigen::VectorXf> vector(p.b, a.columns);
    return [left, vector, p] {
      Eigen::Map<Eigen::VectorXf> result(p.c, p.a->rows);
      result.noalias() = left * vector;
    };
  }
  const Eigen::Map<const dense> right(p.b, a.columns, p.columns);
  return [left, right, p] {
    Eigen::Map<dense> result(p.c, p.a->rows, p.columns);
    result.noalias() = left * right;
  };
}

}  // namespace

std::function<void()> relations_by_eigen(const relation_problem& p, bool weights_first) {
  using dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using rows = Eigen::SparseMatrix<float, Eigen::RowMajor>;
  const auto of_kind = std::make_shared<std::vector<rows>>();
  const sparse_matrix& a = *p.a;
  for (std::int32_t kind = 0; kind < p.kinds; ++kind) {
    std::vector<Eigen::Triplet<float>> entries;
    for (std::int32_t row = 0; row < a.rows; ++row)
      for (std::int32_t at = a.offsets[static_cast<std::size_t>(row)];
           at < a.offsets[static_cast<std::size_t>(row) + 1]; ++at)
        if (static_cast<std::int32_t>(a.values[static_cast<std::size_t>(at)]) == kind)
          entries.emplace_back(row, a.indices[static_cast<std::size_t>(at)], 1.0f);
    of_kind->emplace_back(a.rows, a.columns);
    of_kind->back().setFromTriplets(entries.begin(), entries.end());
  }
  const Eigen::Map<const dense> x(p.x, a.columns, p.in);
  return [=] {
    Eigen::Map<dense> y(p.y, p.a->rows, p.out);
    y.setZero();
    dense between;
    for (std::int32_t kind = 0; kind < p.kinds; ++kind) {
      const rows& one = (*of_kind)[static_cast<std::size_t>(kind)];
      const Eigen::Map<const dense> w(p.w + std::ptrdiff_t{kind} * p.in * p.out, p.in, p.out);
      if (weights_first) {
        between.noalias() = x * w;
        y.noalias() += one * between;
      } else {
        between.noalias() = one * x;
        y.noalias() += between * w;
      }
    }
  };
}

std::function<void()> read_once(const spmm_problem& p) {
  return [p] {
    const sparse_matrix& a = *p.a;
    using integers = Eigen::Map<const Eigen::ArrayXi>;
    using reals = Eigen::Map<const Eigen::ArrayXf>;
    const int read = integers(a.offsets.data(), a.rows + 1).sum() +
                     integers(a.indices.data(), a.nonzeros()).sum();
    const float sum = reals(a.values.data(), a.nonzeros()).sum() +
                      reals(p.b, static_cast<Eigen::Index>(a.columns) * p.columns).sum() +
                      static_cast<float>(read);
    Eigen::Map<Eigen::ArrayXf>(p.c, static_cast<Eigen::Index>(a.rows) * p.columns) = sum;
  };
}

sparse_peer plain_sparse_peer() { return {"plain", {}, prepare_plain, {}}; }
sparse_peer eigen_sparse_peer() { return {"eigen", {}, prepare_eigen, {}}; }
sparse_peer mkl_sparse_peer(int threads) {
  sparse_peer out{"mkl", {}, {}, {}};
  out.threaded = true;
  if (const mkl_functions* f = open_mkl(out.missing, threads))
    out.prepare = [f](const spmm_problem& p) { return prepare_mkl(*f, p); };
  return out;
}

}  // namespace bench
