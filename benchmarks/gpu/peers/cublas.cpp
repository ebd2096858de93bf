#include "cublas.hpp"

#include <tilewright/support/dynamic_library.hpp>
#include <tilewright/support/error.hpp>

#include "primary_context.hpp"

namespace gpu_cublas {
namespace {

using namespace tilewright;

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

const api& library() {
  static const api table = [] {
    support::dynamic_library opened({"cuBLASLt",
                                     "TILEWRIGHT_CUBLASLT",
                                     {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                      "/usr/local/cuda/lib64/libcublasLt.so"},
                                     "install a CUDA toolkit or the Python package nvidia-cublas; "
                                     "or set TILEWRIGHT_CUBLASLT to "
                                     "the path of a libcublasLt"});
    api out;
    opened.fill(out, "cublasLt");
    opened.keep_open();
    return out;
  }();
  return table;
}

void check(int status, const char* what) {
  if (status != 0)
    throw build_error(std::string("cuBLASLt: ") + what + " failed with status " +
                      std::to_string(status));
}

struct kinds {
  int input, output, compute, scale;
};

kinds kinds_of(element e) {
  switch (e) {
    case element::f32: return {real_f32, real_f32, compute_f32, real_f32};
    case element::tf32: return {real_f32, real_f32, compute_tf32, real_f32};
    case element::f16: return {real_f16, real_f32, compute_f32, real_f32};
    case element::bf16: return {real_bf16, real_f32, compute_f32, real_f32};
    case element::i8: return {real_i8, real_i32, compute_i32, real_i32};
    case element::none: break;
  }
  throw internal_error("a product for cuBLASLt has no element type");
}

}  // namespace

handle_ref product::layout(int type, std::uint64_t rows, std::uint64_t columns, int batches) const {
  handle_ref out = nullptr;
  check(library().MatrixLayoutCreate(&out, type, rows, columns, static_cast<std::int64_t>(rows)),
        "MatrixLayoutCreate");
  const auto stride = static_cast<std::int64_t>(rows * columns);
  check(library().MatrixLayoutSetAttribute(out, batch_count, &batches, sizeof batches),
        "MatrixLayoutSetAttribute");
  check(library().MatrixLayoutSetAttribute(out, batch_stride, &stride, sizeof stride),
        "MatrixLayoutSetAttribute");
  return out;
}

// Row-major matrices are transposed ones to the library: it multiplies B' A' to C'.
product::product(const cu::device& on, const shape& s)
    : shape_(s), workspace_((gpu_peers::enter_primary_context("cuBLASLt"), on), workspace_bytes) {
  const api& c = library();
  const kinds k = kinds_of(s.type);
  const auto m = static_cast<std::uint64_t>(s.m), n = static_cast<std::uint64_t>(s.n),
             depth = static_cast<std::uint64_t>(s.k);
  const bool turned = s.type == element::i8;
  check(c.Create(&handle_), "Create");
  check(c.MatmulDescCreate(&description_, k.compute, k.scale), "MatmulDescCreate");
  if (turned)
    check(c.MatmulDescSetAttribute(description_, transpose_a, &transposed, sizeof transposed),
          "MatmulDescSetAttribute");
  first_ = turned ? layout(k.input, depth, n, s.batch) : layout(k.input, n, depth, s.batch);
  second_ = layout(k.input, depth, m, s.batch);
  result_ = layout(k.output, n, m, s.batch);
  check(c.MatmulPreferenceCreate(&preference_), "MatmulPreferenceCreate");
  check(c.MatmulPreferenceSetAttribute(preference_, most_workspace, &workspace_bytes,
                                       sizeof workspace_bytes),
        "MatmulPreferenceSetAttribute");
  found_.resize(8);
  int count = 0;
  check(
      c.MatmulAlgoGetHeuristic(handle_, description_, first_, second_, result_, result_,
                               preference_, static_cast<int>(found_.size()), found_.data(), &count),
      "MatmulAlgoGetHeuristic");
  found_.resize(static_cast<std::size_t>(count));
  if (found_.empty()) throw build_error("cuBLASLt knows no algorithm for this product");
}

product::~product() {
  const api& c = library();
  for (const handle_ref x : {first_, second_, result_})
    if (x) c.MatrixLayoutDestroy(x);
  if (preference_) c.MatmulPreferenceDestroy(preference_);
  if (description_) c.MatmulDescDestroy(description_);
  if (handle_) c.Destroy(handle_);
}

void product::start(std::size_t algorithm, const void* a, const void* b, void* c,
                    cu::stream_ref stream) const {
  const float one = 1, zero = 0;
  const std::int32_t whole_one = 1, whole_zero = 0;
  const bool whole = shape_.type == element::i8;
  const void* const alpha = whole ? static_cast<const void*>(&whole_one) : &one;
  const void* const beta = whole ? static_cast<const void*>(&whole_zero) : &zero;
  check(library().Matmul(handle_, description_, alpha, b, first_, a, second_, beta, c, result_, c,
                         result_, found_[algorithm].algorithm,
                         reinterpret_cast<void*>(workspace_.get()), workspace_bytes, stream),
        "Matmul");
}

}  // namespace gpu_cublas
