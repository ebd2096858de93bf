#include "small_cases.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <tilewright/ir/kernel_notes.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/search/drawn_trace.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

#include "../tensor_workloads.hpp"
#include "../workloads.hpp"
#include "sparse_cases.hpp"

namespace gpu_cases {
namespace {

using namespace tilewright;
using gpu_corpus::entry;

/// Sums of the rows of a matrix, each row shared by blocks that add to its sum, and by their threads.
entry added_rows(const std::string& type, double tolerance) {
  entry out;
  out.name = "added_rows_" + type;
  out.tolerance = tolerance;
  out.written = ir::parse("@T.prim_func\ndef added_rows(A: T.Buffer((5, 700), \"" + type +
                          "\"), C: T.Buffer((5,), \"" + type + R"(")):
    for i, k in T.grid(5, 700):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.)" +
                          type + R"((0)
            C[vi] = C[vi] + A[vi, vk]
)");
  schedule s(out.written);
  const block_rv sums = s.get_block("C");
  s.decompose_reduction(sums, s.get_loops(sums)[0]);
  s.add_atomically(sums);
  const std::vector<loop_rv> loops = s.get_loops(sums);
  const auto [part, rest, inner] = s.split(loops[1], {6, infer, 32});
  s.reorder({part, loops[0], rest, inner});
  s.bind(part, "blockIdx.y");
  s.bind(loops[0], "blockIdx.x");
  s.bind(inner, "threadIdx.x");
  out.scheduled = s.function();
  return out;
}

/// Two nests that do not wait for each other, with threads of different shapes, the second one with barriers.
entry side_by_side() {
  entry out;
  out.name = "side_by_side";
  out.written = ir::parse(R"(
@T.prim_func
def side_by_side(A: T.Buffer((3000,), "float32"), B: T.Buffer((3000,), "float32"), X: T.Buffer((9, 300), "float32"), Y: T.Buffer((9,), "float32")):
    for i in range(3000):
        with T.block("B"):
            vi = T.axis.spatial(3000, i)
            B[vi] = T.exp(A[vi]) + T.float32(1)
    for i, j in T.grid(9, 300):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vj] * X[vi, vj]
)");
  out.tolerance = 1e-4;
  schedule s(out.written);
  const auto [block, thread] = s.split(s.get_loops(s.get_block("B"))[0], {infer, 64});
  s.bind(block, "blockIdx.x");
  s.bind(thread, "threadIdx.x");
  const std::vector<loop_rv> loops = s.get_loops(s.get_block("Y"));
  const auto [outer, inner] = s.split(loops[1], {infer, 128});
  (void)outer;
  s.bind(loops[0], "blockIdx.x");
  s.bind(inner, "threadIdx.x");
  s.annotate(s.get_block("root"), ir::horizontal_note, 1);
  out.scheduled = s.function();
  return out;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// The kernel that compares outputs where they lie, of outputs that differ here and there.
template <class T>
entry compared(dtype type) {
  constexpr std::int64_t elements = 4096 + 77;
  entry out;
  out.name = "comparison_" + std::string(name(type));
  out.written = out.scheduled = search::comparison_kernel(type, elements);
  support::random draw(31);
  std::vector<T> expected, actual;
  const auto value = [&] {
    if constexpr (std::is_floating_point_v<T>) {
      if (draw.below(50) == 0) return std::numeric_limits<T>::quiet_NaN();
      if (draw.below(50) == 0) return -std::numeric_limits<T>::infinity();
      return static_cast<T>(200 * draw.unit() - 100);
    } else {
      return static_cast<T>(draw.next());
    }
  };
  for (std::int64_t n = 0; n < elements; ++n) {
    expected.push_back(value());
    actual.push_back(draw.below(8) == 0 ? value() : expected.back());
    if constexpr (std::is_floating_point_v<T>)
      if (draw.below(4) == 0) actual.back() *= static_cast<T>(1 + 2e-4 * draw.unit());
  }
  const bool real = is_float(type);
  out.given["E"] = bytes_of(expected);
  out.given["X"] = bytes_of(actual);
  out.given["R"] = bytes_of(std::vector<double>{real ? 1e-4 : 0, real ? 57.0 : 0});
  return out;
}

/// The first draw from that seed on that the space finishes.
ir::function drawn(const ir::function& f, const target::gpu& device, std::uint64_t seed) {
  const space::design_space list = space::default_gpu();
  const space::context where{&device, 1};
  const std::vector<schedule> sketches = list.sketches(f, where, 1);
  for (const std::uint64_t end = 64 * (seed + 1); seed < end; seed += 2) {
    support::random random(seed);
    const trace family = sketches[seed % sketches.size()].trace().without_decisions();
    const auto c = search::replay(search::drawn_within_limits(family, f, device, random), f, seed,
                                  nullptr, [&](schedule& s) { list.finish(s, where); });
    if (c) return c->scheduled.function();
  }
  throw internal_error("nothing is drawn for " + f.name);
}

/// Schedules as sessions draw them, two of each workload.
void add_drawn(std::vector<entry>& out, const target::gpu* device) {
  std::vector<gpu_workloads::workload> all = gpu_workloads::small();
  for (gpu_workloads::workload& w : gpu_workloads::small_tensor_products())
    all.push_back(std::move(w));
  for (gpu_workloads::workload& w : all) {
    bool chosen = false;
    for (const char* name : {"C2D", "GMM", "T2D", "SFM", "COLUMNSUMS", "F16"})
      chosen = chosen || w.name == name;
    if (!chosen) continue;
    for (int number = 0; number < 2; ++number) {
      entry e;
      e.name = "drawn_" + w.name + "_" + std::to_string(number);
      e.written = w.function;
      e.tolerance = 1e-5 * (1 + w.terms / 64.0);
      if (device) e.scheduled = drawn(w.function, *device, static_cast<std::uint64_t>(number) + 1);
      out.push_back(std::move(e));
    }
  }
}

}  // namespace

std::vector<entry> small(const target::gpu* device) {
  std::vector<entry> out{
      added_rows("float32", 1e-4), added_rows("float64", 1e-12), added_rows("int32", 0),
      added_rows("int64", 0),      added_rows("float16", 0.1),   side_by_side(),
      compared<float>(dtype::f32), compared<double>(dtype::f64), compared<std::int8_t>(dtype::i8)};
  for (entry& e : sparse(device)) out.push_back(std::move(e));
  add_drawn(out, device);
  return out;
}

entry summed_product() {
  entry out = gpu_corpus::matmul(256, 192, 320);
  out.name = "random_sums";
  return out;
}

}  // namespace gpu_cases
