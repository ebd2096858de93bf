#include <memory>
#include <vector>

#include "sparse_peer.hpp"
#ifdef BENCH_LIBXSMM
#include <libxsmm.h>
#endif

namespace bench {
#ifdef BENCH_LIBXSMM
namespace {

/// The matrix as its slices of 128 x 128.
struct sliced {
  libxsmm_spmdm_handle handle{};
  libxsmm_CSR_sparseslice* slices = nullptr;
  sliced() = default;
  sliced(const sliced&) = delete;
  sliced& operator=(const sliced&) = delete;
  ~sliced() { libxsmm_spmdm_destroy(&handle); }
};

std::function<void()> prepare_slices(const spmm_problem& p) {
  const sparse_matrix& a = *p.a;
  const auto columns = static_cast<std::size_t>(a.columns);
  std::vector<float> dense(static_cast<std::size_t>(a.rows) * columns, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at)
      dense[row * columns + static_cast<std::size_t>(a.indices[at])] = a.values[at];
  const auto of = std::make_shared<sliced>();
  libxsmm_init();
  libxsmm_spmdm_init(a.rows, p.columns, a.columns, 1, &of->handle, &of->slices);
  const int blocks = libxsmm_spmdm_get_num_createSparseSlice_blocks(&of->handle);
  for (int block = 0; block < blocks; ++block)
    libxsmm_spmdm_createSparseSlice_fp32_thread(&of->handle, 'N', dense.data(), of->slices, block,
                                                0, 1);
  return [of, p] {
    const float one = 1, none = 0;
    const int products = libxsmm_spmdm_get_num_compute_blocks(&of->handle);
    for (int block = 0; block < products; ++block)
      libxsmm_spmdm_compute_fp32_thread(&of->handle, 'N', 'N', &one, of->slices, p.b, 'N', &none,
                                        p.c, block, 0, 1);
  };
}

}  // namespace

sparse_peer libxsmm_sparse_peer() {
  sparse_peer out{"libxsmm", {}, prepare_slices, {}};
  // slices are made of the dense matrix, and a product with one column is none of its kernels
  out.takes = [](const spmm_problem& p) {
    return p.columns > 1 && std::int64_t{p.a->rows} * p.a->columns <= std::int64_t{1} << 24;
  };
  return out;
}
#else
sparse_peer libxsmm_sparse_peer() {
  return {"libxsmm", "the build found no libxsmm (Debian: libxsmm-dev)", {}, {}};
}
#endif

}  // namespace bench
