// The gate: kernels go through NVRTC for each architecture and keep their limits. No device is needed.
#include <tilewright/backend/cuda/compile.hpp>

#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/support/error.hpp>

#include "cases.hpp"

using namespace tilewright;

namespace {

void check_gate(const ir::function& f, int registers) {
  for (const char* name : {"sm_80", "sm_90a"}) {
    const target::gpu device = target::named_gpu(name);
    const cases::cu::program p = cases::cu::print(pass::lower(f, device), device);
    INFO(p.text);
    const cases::cu::compiled c = cases::cu::compile(p, device);
    CHECK(c.artifact.isa == "nvidia:" + std::string(name));
    CHECK(std::memcmp(c.artifact.object.data(),
                      "\x7f"
                      "ELF",
                      4) == 0);
    REQUIRE(c.artifact.launches.size() == p.kernels.size());
    CHECK(c.report.kernels.size() == p.kernels.size());
    for (const backend::launch& l : c.artifact.launches) {
      CHECK(cases::cu::why_rejected(l, c.report, device, {0, 0, false}) == "");
      CHECK(l.registers > 0);
      CHECK(l.registers <= registers);
    }
    const std::vector<std::byte> stored = backend::serialize(c.artifact);
    CHECK(backend::deserialize(stored.data(), stored.size()) == c.artifact);
  }
}

}  // namespace

TEST_CASE("elementwise kernels compile for each architecture within their limits") {
  if (!cases::have_nvrtc()) return;
  check_gate(cases::exponential(), 32);
  check_gate(cases::two_kernels(), 32);
}

TEST_CASE("what NVRTC refuses is a build_error with its log") {
  if (!cases::have_nvrtc()) return;
  cases::cu::program p;
  p.text = "extern \"C\" __global__ void broken() { unknown(); }";
  CHECK_THROWS_WITH_AS(cases::cu::compile(p, cases::device()),
                       doctest::Contains("identifier \"unknown\" is undefined"), build_error);
  target::gpu other = cases::device();
  other.architecture = "sm_13";
  CHECK_THROWS_WITH_AS(cases::cu::compile(p, other), doctest::Contains("sm_13"), build_error);
}

TEST_CASE("a compilation ends at its deadline where NVRTC can be asked to") {
  if (!cases::have_nvrtc() || !cases::cu::nvrtc().SetFlowCallback) return;
  const cases::cu::program p =
      cases::cu::print(pass::lower(cases::exponential(), cases::device()), cases::device());
  CHECK_THROWS_WITH_AS(cases::cu::compile(p, cases::device(), std::chrono::milliseconds(1)),
                       doctest::Contains("stopped after 1 ms"), build_error);
}
