// cuBLASLt, a peer of the GPU program: prototypes and constants against the real header, where it is
// installed.
#include "gpu/peers/cublas.hpp"

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include <set>
#include <string>
#include <type_traits>

#include "../fake/prototypes.hpp"

namespace prototypes {

template <class T>
requires(std::is_same_v<T, cublasLtHandle_t> || std::is_same_v<T, cublasLtMatmulDesc_t> ||
         std::is_same_v<T, cublasLtMatrixLayout_t> ||
         std::is_same_v<T, cublasLtMatmulPreference_t>) inline constexpr bool is_handle<T> = true;
template <>
struct plain<cublasLtMatmulHeuristicResult_t*> {
  using type = gpu_cublas::heuristic*;
};
template <>
struct plain<const cublasLtMatmulAlgo_t*> {
  using type = const void*;
};

}  // namespace prototypes

TEST_CASE("every prototype of cuBLASLt's table is that of the real header") {
  std::set<std::string> checked, table;
#define LT(name)                                                                   \
  static_assert(std::is_same_v<decltype(gpu_cublas::api::name),                    \
                               prototypes::plain<decltype(cublasLt##name)>::type>, \
                #name);                                                            \
  checked.insert(#name)
  LT(Create);
  LT(Destroy);
  LT(MatmulDescCreate);
  LT(MatmulDescDestroy);
  LT(MatmulDescSetAttribute);
  LT(MatrixLayoutCreate);
  LT(MatrixLayoutDestroy);
  LT(MatrixLayoutSetAttribute);
  LT(MatmulPreferenceCreate);
  LT(MatmulPreferenceDestroy);
  LT(MatmulPreferenceSetAttribute);
  LT(MatmulAlgoGetHeuristic);
  LT(Matmul);
#undef LT
  gpu_cublas::api{}.visit([&](const char* name, const auto&) { table.insert(name); });
  CHECK(checked == table);
  CHECK(sizeof(gpu_cublas::heuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
  CHECK(offsetof(gpu_cublas::heuristic, workspace_bytes) ==
        offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  CHECK(offsetof(gpu_cublas::heuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
  CHECK(gpu_cublas::compute_f32 == CUBLAS_COMPUTE_32F);
  CHECK(gpu_cublas::compute_tf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
  CHECK(gpu_cublas::compute_i32 == CUBLAS_COMPUTE_32I);
  CHECK(gpu_cublas::real_f32 == CUDA_R_32F);
  CHECK(gpu_cublas::real_f16 == CUDA_R_16F);
  CHECK(gpu_cublas::real_bf16 == CUDA_R_16BF);
  CHECK(gpu_cublas::real_i8 == CUDA_R_8I);
  CHECK(gpu_cublas::real_i32 == CUDA_R_32I);
  CHECK(gpu_cublas::transpose_a == CUBLASLT_MATMUL_DESC_TRANSA);
  CHECK(gpu_cublas::transposed == CUBLAS_OP_T);
  CHECK(gpu_cublas::batch_count == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  CHECK(gpu_cublas::batch_stride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  CHECK(gpu_cublas::most_workspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
}

#else
TEST_CASE("cuBLASLt's table is compared with the real header") {
  MESSAGE("skipped: cublasLt.h is not installed");
}
#endif
