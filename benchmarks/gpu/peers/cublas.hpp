// cuBLASLt as a peer: matrix products by the best of its heuristics, opened at run time.
//
// No header of CUDA is included. A test compares prototypes and constants with the real header where it
// is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>

namespace gpu_cublas {

namespace cu = tilewright::backend::cuda;

using handle_ref = void*;  // cublasLtHandle_t, and the descriptors below

inline constexpr int compute_f32 = 68, compute_tf32 = 77, compute_i32 = 72;  // cublasComputeType_t
inline constexpr int real_f32 = 0, real_f16 = 2, real_i8 = 3, real_i32 = 10,
                     real_bf16 = 14;                     // cudaDataType_t
inline constexpr int transpose_a = 3;                    // cublasLtMatmulDescAttributes_t
inline constexpr int transposed = 1;                     // cublasOperation_t
inline constexpr int batch_count = 5, batch_stride = 6;  // cublasLtMatrixLayoutAttribute_t
inline constexpr int most_workspace = 1;                 // cublasLtMatmulPreferenceAttributes_t

/// cublasLtMatmulHeuristicResult_t.
struct heuristic {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

/// Functions of the library without their prefix "cublasLt".
struct api {
  int (*Create)(handle_ref*) = nullptr;
  int (*Destroy)(handle_ref) = nullptr;
  int (*MatmulDescCreate)(handle_ref*, int, int) = nullptr;
  int (*MatmulDescDestroy)(handle_ref) = nullptr;
  int (*MatmulDescSetAttribute)(handle_ref, int, const void*, std::size_t) = nullptr;
  int (*MatrixLayoutCreate)(handle_ref*, int, std::uint64_t, std::uint64_t, std::int64_t) = nullptr;
  int (*MatrixLayoutDestroy)(handle_ref) = nullptr;
  int (*MatrixLayoutSetAttribute)(handle_ref, int, const void*, std::size_t) = nullptr;
  int (*MatmulPreferenceCreate)(handle_ref*) = nullptr;
  int (*MatmulPreferenceDestroy)(handle_ref) = nullptr;
  int (*MatmulPreferenceSetAttribute)(handle_ref, int, const void*, std::size_t) = nullptr;
  int (*MatmulAlgoGetHeuristic)(handle_ref, handle_ref, handle_ref, handle_ref, handle_ref,
                                handle_ref, handle_ref, int, heuristic*, int*) = nullptr;
  int (*Matmul)(handle_ref, handle_ref, const void*, const void*, handle_ref, const void*,
                handle_ref, const void*, const void*, handle_ref, void*, handle_ref, const void*,
                void*, std::size_t, cu::stream_ref) = nullptr;

  /// Calls f(name in the library, pointer) for every function above.
  template <class F>
  void visit(F&& f) {
    f("Create", Create);
    f("Destroy", Destroy);
    f("MatmulDescCreate", MatmulDescCreate);
    f("MatmulDescDestroy", MatmulDescDestroy);
    f("MatmulDescSetAttribute", MatmulDescSetAttribute);
    f("MatrixLayoutCreate", MatrixLayoutCreate);
    f("MatrixLayoutDestroy", MatrixLayoutDestroy);
    f("MatrixLayoutSetAttribute", MatrixLayoutSetAttribute);
    f("MatmulPreferenceCreate", MatmulPreferenceCreate);
    f("MatmulPreferenceDestroy", MatmulPreferenceDestroy);
    f("MatmulPreferenceSetAttribute", MatmulPreferenceSetAttribute);
    f("MatmulAlgoGetHeuristic", MatmulAlgoGetHeuristic);
    f("Matmul", Matmul);
  }
};

enum class element { none, f32, tf32, f16, bf16, i8 };

/// C = A B of batches, row-major: A [m, k], B [k, n], C [m, n] in f32, of bytes in i32. Of bytes the library
/// takes B as [n, k] alone, so that is what it is timed with.
struct shape {
  element type = element::none;
  int batch = 1, m = 0, n = 0, k = 0;
};

/// One product on the device, by up to eight algorithms, best guess first.
class product {
 public:
  /// @throws build_error when the library cannot be opened, or knows no algorithm
  product(const cu::device& on, const shape& s);
  ~product();
  product(const product&) = delete;
  product& operator=(const product&) = delete;

  std::size_t algorithms() const noexcept { return found_.size(); }
  /// Starts C = A B on a stream. @throws build_error when the library refuses
  void start(std::size_t algorithm, const void* a, const void* b, void* c,
             cu::stream_ref stream = nullptr) const;

 private:
  handle_ref layout(int type, std::uint64_t rows, std::uint64_t columns, int batches) const;

  shape shape_;
  handle_ref handle_ = nullptr, description_ = nullptr, preference_ = nullptr;
  handle_ref first_ = nullptr, second_ = nullptr, result_ = nullptr;
  std::vector<heuristic> found_;
  cu::device_memory workspace_;
};

}  // namespace gpu_cublas
