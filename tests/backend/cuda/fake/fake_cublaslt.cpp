// A cuBLASLt for the fake driver, whose device memory is the host's: products of f32 by three loops.
// FAKE_CUBLASLT: "none" knows no algorithm, "refuse" refuses to multiply.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct object {
  int type = 0, batches = 1, transposed = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t apart = 0, stride = 0;  // columns, batches; elements
};

bool is(const char* value) {
  const char* text = std::getenv("FAKE_CUBLASLT");
  return text && std::string(text) == value;
}

int make(void** out, const object& o) {
  *out = new object(o);
  return 0;
}

int destroy(void* at) {
  delete static_cast<object*>(at);
  return 0;
}

}  // namespace

extern "C" {

int cublasLtCreate(void** out) { return make(out, {}); }
int cublasLtDestroy(void* at) { return destroy(at); }
int cublasLtMatmulDescCreate(void** out, int, int scale) { return make(out, {.type = scale}); }
int cublasLtMatmulDescDestroy(void* at) { return destroy(at); }
int cublasLtMatmulDescSetAttribute(void* at, int what, const void* value, std::size_t size) {
  if (what != 3 || size != sizeof(int)) return 7;
  std::memcpy(&static_cast<object*>(at)->transposed, value, size);
  return 0;
}
int cublasLtMatrixLayoutCreate(void** out, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t apart) {
  object o;
  o.type = type;
  o.rows = rows;
  o.columns = columns;
  o.apart = apart;
  return make(out, o);
}
int cublasLtMatrixLayoutDestroy(void* at) { return destroy(at); }
int cublasLtMatrixLayoutSetAttribute(void* at, int what, const void* value, std::size_t size) {
  object& o = *static_cast<object*>(at);
  if (what == 5 && size == sizeof o.batches)
    std::memcpy(&o.batches, value, size);
  else if (what == 6 && size == sizeof o.stride)
    std::memcpy(&o.stride, value, size);
  else
    return 7;
  return 0;
}
int cublasLtMatmulPreferenceCreate(void** out) { return make(out, {}); }
int cublasLtMatmulPreferenceDestroy(void* at) { return destroy(at); }
int cublasLtMatmulPreferenceSetAttribute(void*, int what, const void*, std::size_t size) {
  return what == 1 && size == sizeof(std::size_t) ? 0 : 7;
}
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int wanted,
                                   void* results, int* count) {
  *count = is("none") ? 0 : 2 < wanted ? 2 : wanted;
  std::memset(results, 0, static_cast<std::size_t>(*count) * 96);
  return 0;
}
/// By columns: C [n, m] = A B, A [n, k] or transposed, B [k, m].
int cublasLtMatmul(void*, void* description, const void* alpha, const void* a, void* of_a,
                   const void* b, void* of_b, const void* beta, const void*, void*, void* d,
                   void* of_d, const void*, void*, std::size_t, void*) {
  const object &x = *static_cast<object*>(of_a), &y = *static_cast<object*>(of_b),
               &z = *static_cast<object*>(of_d);
  const bool turned = static_cast<object*>(description)->transposed != 0;
  if (is("refuse") || x.type != 0 || y.type != 0 || z.type != 0) return 15;
  if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0) return 7;
  const auto at = [](const object& o, int batch, std::uint64_t row, std::uint64_t column) {
    return static_cast<std::int64_t>(batch) * o.stride +
           static_cast<std::int64_t>(column) * o.apart + static_cast<std::int64_t>(row);
  };
  for (int batch = 0; batch < z.batches; ++batch)
    for (std::uint64_t j = 0; j < z.columns; ++j)
      for (std::uint64_t i = 0; i < z.rows; ++i) {
        float sum = 0;
        for (std::uint64_t k = 0; k < y.rows; ++k)
          sum += static_cast<const float*>(a)[turned ? at(x, batch, k, i) : at(x, batch, i, k)] *
                 static_cast<const float*>(b)[at(y, batch, k, j)];
        static_cast<float*>(d)[at(z, batch, i, j)] = sum;
      }
  return 0;
}

}  // extern "C"
