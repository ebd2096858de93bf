// The kernel that compares outputs on a device: emulated, through the compile gate, and in a device timer whose
// driver is a fake one and whose comparisons are emulated.
#include <tilewright/search/check/comparison_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/search/device_timer.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/support/error.hpp>

#include "cases.hpp"
#include "fake/fake.hpp"
#include "search/comparisons.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

cases::cu::program program_of(dtype type, std::int64_t elements, non_finite kinds,
                              const target::gpu& device = cases::device()) {
  return cases::cu::print(pass::lower(comparison_kernel(type, elements, kinds), device), device);
}

}  // namespace

TEST_CASE("a comparison kernel is emulated, and counts what the host's comparison finds") {
  if (!cases::have_emulator()) return;
  constexpr std::int64_t elements = 4096 + 77;
  for (const dtype type : comparisons::types)
    for (const non_finite kinds : {non_finite::apart, non_finite::alike}) {
      if (!is_float(type) && kinds == non_finite::alike) continue;
      CAPTURE(std::string(name(type)));
      const cases::cu::program text = program_of(type, elements, kinds);
      INFO(text.text);
      const cases::cu::emulator kernels(text);
      // the host looks at each element alone: the interpreter, which does what it does, tells the rest
      comparisons::problem p(type, elements, 5), q(type, elements, 5);
      ir::interpret(comparison_kernel(type, elements, kinds), q.views());
      const std::vector<std::int64_t> count{elements, elements, 2, comparison_parts(elements),
                                            comparison_parts(elements)};
      std::vector<cases::cu::emulated_argument> arguments;
      const std::vector<void*> data = p.data();
      for (std::size_t i = 0; i < data.size(); ++i) arguments.push_back({data[i], count[i]});
      kernels.run(arguments, {}, 3);
      CHECK(p.counts == q.counts);
      CHECK(p.firsts == q.firsts);
      CHECK(p.found().count > 0);
    }
}

TEST_CASE("comparison kernels compile for each architecture without spills") {
  if (!cases::have_nvrtc()) return;
  for (const char* name : {"sm_80", "sm_90a"})
    for (const dtype type : {dtype::f32, dtype::f16, dtype::f64, dtype::i8}) {
      const target::gpu device = target::named_gpu(name);
      const cases::cu::compiled c = cases::cu::compile(
          program_of(type, std::int64_t{1} << 25, non_finite::apart, device), device);
      for (const backend::launch& l : c.artifact.launches) {
        CHECK(cases::cu::why_rejected(l, c.report, device, {0, 0, false}) == "");
        CHECK(l.registers <= 64);
      }
    }
}

namespace {

constexpr std::int64_t rows = 5, columns = 9, row = 12;  // with a gap behind each row

ir::function twice() {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((5, 9), "float32"), B: T.Buffer((5, 9), "float32")):
    for i, j in T.grid(5, 9):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)");
}

/// What kernels do on the fake device: "comparison" compares, "right" and "wrong" write B.
struct device {
  inline static std::optional<cases::cu::emulator> comparison;
  inline static int compared = 0;

  static int launch(const char* symbol, void** arguments, void*) {
    const auto address = [&](int i) {
      void* out;
      std::memcpy(&out, arguments[i], sizeof out);
      return out;
    };
    if (std::string(symbol).find("comparison") != std::string::npos) {
      ++compared;
      constexpr std::int64_t elements = (rows - 1) * row + columns;
      comparison->run({{address(0), elements},
                       {address(1), elements},
                       {address(2), 2},
                       {address(3), 1},
                       {address(4), 1}});
      return 0;
    }
    auto* const b = static_cast<float*>(address(0));
    const auto* const a = static_cast<const float*>(address(1));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) b[i * row + j] = 2 * a[i * columns + j];
    if (symbol == std::string("wrong")) b[3 * row + 4] += 1;
    if (symbol == std::string("beside")) b[3 * row + columns] = 1;
    return 0;
  }
};

backend::artifact code(const char* symbol) {
  backend::artifact a;
  a.isa = "nvidia:sm_90a";
  a.object.resize(64);
  backend::launch l;
  l.symbol = symbol;
  using kind = backend::launch_argument::kind;
  l.arguments = {{kind::buffer, 8, 1}, {kind::buffer, 8, 0}};
  a.launches = {l};
  return a;
}

}  // namespace

TEST_CASE("outputs that are as expected stay on the device; others are copied back") {
  if (!fake::here() || !cases::have_emulator()) return;
  runner r(twice(), {{}, {{row, 1}, {}}}, backend::serial_executor(), 1, {},
           argument_memory::sharing::possible);
  auto& memory = const_cast<argument_memory&>(r.memory());
  auto* const b = static_cast<float*>(r.data()[1]);
  const auto bytes_of_b = static_cast<std::int64_t>(memory.places()[1].bytes);
  const std::int64_t elements = bytes_of_b / 4;
  REQUIRE(elements == (rows - 1) * row + columns);
  const target::gpu gpu = target::named_gpu("sm_90a");
  const cases::cu::program text = program_of(dtype::f32, elements, non_finite::apart, gpu);
  device::comparison.emplace(text);
  output_comparison how;
  how.argument = 1;
  how.elements = elements;
  how.relative = 1e-6;
  how.scale = 1;
  how.code = code("comparison");
  how.code.launches = {text.kernels[0].start};
  REQUIRE(how.code.launches[0].symbol.find("comparison") != std::string::npos);
  {
    device_timer t(memory);
    fake::on_launch(device::launch);
    bool as_expected = true;
    CHECK(t.run_compared(code("right"), 1, as_expected).ok());
    CHECK_FALSE(as_expected);  // nothing is expected yet
    const std::vector<float> right(b, b + elements);

    // what nothing has computed yet is no expectation
    r.reset_outputs();
    CHECK_THROWS_WITH_AS(t.expect({how}, {}), doctest::Contains("fresh ones"), build_error);
    CHECK(t.run_compared(code("right"), 1, as_expected).ok());
    CHECK_FALSE(as_expected);

    std::copy(right.begin(), right.end(), b);
    t.expect({how}, {{1, 4 * (row + 2), 4}});
    r.reset_outputs();
    device::compared = 0;
    CHECK(t.run_compared(code("right"), 1, as_expected).ok());
    CHECK(as_expected);
    CHECK(device::compared == 1);
    CHECK(b[row + 2] == right[row + 2]);  // which is to be shown
    CHECK(b[row + 1] != right[row + 1]);
    CHECK(t.run_compared(code("wrong"), 1, as_expected).ok());
    CHECK_FALSE(as_expected);
    CHECK(b[3 * row + 4] == right[3 * row + 4] + 1);
    CHECK(b[row + 1] == right[row + 1]);
    CHECK(t.run_compared(code("beside"), 1, as_expected).ok());
    CHECK_FALSE(as_expected);  // the host looks again, and knows that nobody asked for this
    CHECK(t.run(code("right"), 1).ok());
    CHECK(std::equal(right.begin(), right.end(), b,
                     [](float x, float y) { return std::memcmp(&x, &y, sizeof x) == 0; }));
  }
  fake::on_launch(nullptr);
  device::comparison.reset();
}
