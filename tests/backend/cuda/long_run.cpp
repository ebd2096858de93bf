// Schedules of the default space for GPUs, emulated, against the interpreter: as many as TILEWRIGHT_CUDA_LONG
// says, in turn over the workloads of the MetaSchedule paper, products and products on tensor cores. The target
// cuda_long asks for 1,000.
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

#include "cases.hpp"
#include "gpu/tensor_workloads.hpp"
#include "gpu/workloads.hpp"
#include "gpu_list.hpp"

using namespace tilewright;

namespace {

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::atoi(text) : otherwise;
}

/// A workload with its families, what it has to compute, and what became of its schedules.
struct subject {
  gpu_workloads::workload what;
  std::vector<schedule> sketches;
  std::vector<harness::argument> expected;
  int run = 0, on_tensor_cores = 0;
};

}  // namespace

TEST_CASE("long run: any schedule of default_gpu computes what the interpreter computes") {
  const int wanted = number_in("TILEWRIGHT_CUDA_LONG", 0);
  if (wanted == 0) {
    MESSAGE("skipped: TILEWRIGHT_CUDA_LONG says how many schedules to run");
    return;
  }
  if (!cases::have_emulator()) return;
  const space::design_space list = space::default_gpu();
  std::vector<subject> all;
  std::vector<gpu_workloads::workload> workloads = gpu_workloads::small();
  for (gpu_workloads::workload& w : gpu_workloads::small_tensor_products())
    workloads.push_back(std::move(w));
  for (gpu_workloads::workload& w : workloads)
    all.push_back(
        {w, list.sketches(w.function, gpu_list::machine(), 7), cases::interpreted(w.function)});
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(number_in("TILEWRIGHT_CUDA_SECONDS", 1 << 24));
  int run = 0, refused = 0;
  std::map<std::string, int> not_lowered;
  std::uint64_t seed = static_cast<std::uint64_t>(number_in("TILEWRIGHT_CUDA_SEED", 1));
  for (std::size_t turn = 0; run < wanted && std::chrono::steady_clock::now() < end; ++turn) {
    subject& s = all[turn % all.size()];
    std::optional<search::candidate> member;
    for (int draws = 0; draws < 100 && !member; ++draws) {
      const trace family = s.sketches[++seed % s.sketches.size()].trace().without_decisions();
      member = search::replay(family, s.what.function, seed, nullptr,
                              [&](schedule& drawn) { list.finish(drawn, gpu_list::machine()); });
      refused += member ? 0 : 1;
    }
    if (!member) continue;
    cases::cu::program text;
    const std::string name = s.what.name;
    CAPTURE(name);
    CAPTURE(seed);
    INFO(member->scheduled.trace().print());
    try {
      text = cases::cu::print(pass::lower(member->scheduled.function(), cases::device()),
                              cases::device());
    } catch (const build_error& e) {
      ++not_lowered[e.what()];
      continue;
    }
    INFO(text.text);
    ++run;
    ++s.run;
    s.on_tensor_cores += text.text.find("tw_mma") == std::string::npos ? 0 : 1;
    const double tolerance = 1e-5 * (1 + s.what.terms / 64.0);
    try {
      const cases::cu::emulator kernels(text);
      cases::check_equal(cases::emulated(kernels, s.what.function, seed), s.expected, tolerance);
    } catch (const error& e) {
      FAIL_CHECK(e.what());
    }
  }
  for (const subject& s : all)
    MESSAGE(s.what.name << ": " << s.run << " schedules, " << s.on_tensor_cores
                        << " on tensor cores");
  for (const auto& [why, times] : not_lowered) MESSAGE(times << " are not lowered: " << why);
  MESSAGE(run << " schedules run, " << refused << " draws refused");
  CHECK(run > 0);
}
