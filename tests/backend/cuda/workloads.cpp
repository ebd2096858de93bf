// The default space for GPUs on the workloads of the MetaSchedule paper and more: emulated where they
// are small, compiled where they are large.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include "cases.hpp"
#include "gpu/workloads.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

void check(const gpu_workloads::workload& w, const schedule& s, const cases::cu::program& p,
           const std::vector<harness::argument>& expected) {
  INFO(s.trace().print());
  INFO(p.text);
  const cases::cu::emulator kernels(p);
  const double tolerance = 1e-5 * (1 + w.terms / 64.0);
  cases::check_equal(cases::emulated(kernels, w.function, 3), expected, tolerance);
}

cases::cu::program printed(const schedule& s, const target::gpu& device) {
  return cases::cu::print(pass::lower(s.function(), device), device);
}

}  // namespace

TEST_CASE(
    "default_gpu: the default schedule and drawn ones compute what the interpreter computes") {
  if (!cases::have_emulator()) return;
  const space::design_space list = space::default_gpu();
  for (const gpu_workloads::workload& w : gpu_workloads::small()) {
    CAPTURE(w.name);
    const std::vector<harness::argument> expected = cases::interpreted(w.function);
    const schedule first = search::default_schedule(w.function, list, gpu_list::machine(), 1);
    CHECK(!first.trace().steps().empty());
    check(w, first, printed(first, cases::device()), expected);
    const std::vector<schedule> drawn = gpu_list::members(w.function, 2, list);
    CHECK(drawn.size() == 2);
    for (const schedule& s : drawn) check(w, s, printed(s, cases::device()), expected);
  }
}

TEST_CASE("default_gpu: default schedules compile for each architecture within its limits") {
  if (!cases::have_nvrtc()) return;
  for (const char* name : {"sm_80", "sm_90a"}) {
    const target::gpu device = target::named_gpu(name);
    const space::context where{&device, 1};
    for (const gpu_workloads::workload& w : gpu_workloads::full()) {
      CAPTURE(w.name);
      CAPTURE(name);
      const schedule s = search::default_schedule(w.function, space::default_gpu(), where, 1);
      CHECK(!s.trace().steps().empty());
      INFO(s.trace().print());
      const cases::cu::program p = printed(s, device);
      INFO(p.text);
      const cases::cu::compiled c = cases::cu::compile(p, device, std::chrono::seconds(60));
      for (const backend::launch& l : c.artifact.launches)
        CHECK(cases::cu::why_rejected(l, c.report, device) == "");
    }
  }
}

TEST_CASE("a space for CPUs refuses a GPU, and the other way round") {
  const ir::function f = gpu_workloads::small()[0].function;
  CHECK_THROWS_WITH_AS(space::default_cpu().sketches(f, gpu_list::machine(), 1),
                       doctest::Contains("write default_gpu"), argument_error);
  CHECK_THROWS_WITH_AS(space::default_gpu().sketches(f, {&target::host(), 1}, 1),
                       doctest::Contains("write default_cpu"), argument_error);
}
