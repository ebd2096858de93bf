// Random sums over all elements of a product: they agree with the interpreter's, and one wrong element is seen.
#include "gpu/checks/freivalds.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>

#include "gpu/case_memory.hpp"
#include "gpu/tensor_workloads.hpp"
#include "gpu/workloads.hpp"

namespace {

using namespace tilewright;
using gpu_case::byte_list, gpu_case::freivalds, gpu_case::product_form;

std::size_t output_of(const ir::function& f) { return f.params.size() - 1; }

std::optional<product_form> form_of(const ir::function& f) {
  return gpu_case::product_form_of(f, output_of(f));
}

/// Arguments with random values and with what the function makes of them.
struct filled {
  std::vector<byte_list> bytes;
  std::vector<ir::tensor_view> views;

  explicit filled(const ir::function& f) {
    std::uint64_t seed = 3;
    for (const ir::param& p : f.params) {
      std::size_t size = static_cast<std::size_t>(tilewright::bytes(p.buffer->type));
      for (const ir::expr& e : p.buffer->shape) size *= static_cast<std::size_t>(e->integer);
      gpu_case::fill_random(bytes.emplace_back(size), p.buffer->type, seed++);
    }
    for (byte_list& b : bytes) views.push_back({b.data(), {}});
    ir::interpret(f, views);
  }
};

template <class T>
void add(byte_list& to, std::size_t element, T x) {
  T value;
  std::memcpy(&value, &to[element * sizeof value], sizeof value);
  value = static_cast<T>(value + x);
  std::memcpy(&to[element * sizeof value], &value, sizeof value);
}

}  // namespace

TEST_CASE("product_form: along which dimension a kernel is linear") {
  std::map<std::string, std::int64_t> extents;
  for (const gpu_workloads::workload& w : gpu_workloads::full())
    if (const auto form = form_of(w.function)) extents[w.name] = form->extent;
  CHECK(extents.at("GMM") == 128);
  CHECK(extents.at("C1D") == 128);  // filters
  CHECK(extents.at("C2D") == 64);
  CHECK(extents.at("C3D") == 64);
  CHECK(extents.at("T2D") == 256);
  for (const char* name : {"SFM", "NRM", "DEP", "CBR"}) CHECK(extents.count(name) == 0);
}

TEST_CASE("product_form: what is added to each result goes along") {
  const auto form = form_of(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), B: T.Buffer((5, 7), "float32"), bias: T.Buffer((7,), "float32"),
         C: T.Buffer((6, 7), "float32")):
    S = T.alloc_buffer((6, 7), "float32")
    for i, j, k in T.grid(6, 7, 5):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(6, 7):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = S[vi, vj] * T.float32(2) + bias[vj]
)"));
  REQUIRE(form);
  CHECK(form->dimension == 1);
  CHECK(form->dimensions == std::vector<int>{-1, 1, 0, -1});
}

TEST_CASE("product_form: a constant, a square, a maximum and a row's sum in a result leave none") {
  for (const char* value :
       {"A[vi, vj] + T.float32(1)", "A[vi, vj] * A[vi, vj]", "T.max(A[vi, vj], T.float32(0))",
        "A[vi, vj] + R[vi]", "A[vi, vj] + A[vi, 0]", "A[vi, vj] * T.cast(vj, \"float32\")"}) {
    CAPTURE(value);
    const ir::function f = ir::parse(std::string(R"(
@T.prim_func
def main(A: T.Buffer((6, 6), "float32"), C: T.Buffer((6, 6), "float32")):
    R = T.alloc_buffer((6,), "float32")
    for i, k in T.grid(6, 6):
        with T.block("R"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                R[vi] = T.float32(0)
            R[vi] = R[vi] + A[vi, vk]
    for i, j in T.grid(6, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = )") + value + "\n");
    const auto form = form_of(f);
    // along the other dimension a row's sum is linear, too, where it goes into the result
    const bool by_rows = std::string(value) == "A[vi, vj] + R[vi]";
    CHECK(form.has_value() == by_rows);
    if (form) CHECK(form->dimension == 0);
  }
}

TEST_CASE("freivalds: sums agree with the interpreter, and one wrong element is seen") {
  std::vector<gpu_workloads::workload> all = gpu_workloads::small();
  for (gpu_workloads::workload& w : gpu_workloads::small_tensor_products())
    all.push_back(std::move(w));
  int checked = 0;
  for (const gpu_workloads::workload& w : all) {
    CAPTURE(w.name);
    const std::size_t output = output_of(w.function);
    const auto form = gpu_case::product_form_of(w.function, output);
    if (!form) continue;
    ++checked;
    filled arguments(w.function);
    const freivalds sums(w.function, output, *form, arguments.views, 5);
    REQUIRE(sums.known());
    byte_list& got = arguments.bytes[output];
    const dtype type = w.function.params[output].buffer->type;
    const double spread = type == dtype::f32 ? 1e-6 : 0;
    CHECK(sums.wrong(got.data(), spread) == 0);
    const std::size_t elements = got.size() / 4;
    for (const std::size_t at : {std::size_t{0}, elements / 3, elements - 1}) {
      byte_list wrong = got;
      if (type == dtype::f32)
        add(wrong, at, 0.01F);
      else
        add(wrong, at, std::int32_t{1});
      CHECK(sums.wrong(wrong.data(), spread) == 1);
    }
    if (type != dtype::f32) continue;
    byte_list wrong = got;
    add(wrong, elements / 2, NAN);
    CHECK(sums.wrong(wrong.data(), spread) == 1);
  }
  CHECK(checked >= 8);
}
