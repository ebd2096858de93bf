// What kernels for GPUs cost before there is a GPU: lowering and text, NVRTC, the emulator.
//
// Names: lower_and_print/KERNEL, nvrtc/KERNEL, nvrtc/KERNEL/threads:2, nvrtc_together/KERNEL/COUNT, nvrtc_memory/COMPILES, emulator_compile/KERNEL,
// emulate/KERNEL, candidates/WORKLOAD: replayed, verified, with key, features and score, as a search ranks them; neighbours/WORKLOAD: the same of
// candidates with one decision changed, replayed from where others have been, `shared` the share of instructions that are not run; draws/WORKLOAD and
// draws_of_replays/WORKLOAD: drawn within limits of the device and by replays alone, `refused` the share of draws that are no candidates. NVRTC and the C++ compiler of the emulator are reported as missing where they are not
// installed.
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/cost/features.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/impl/search/replay_memory.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/drawn_trace.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/space/postproc/verify_gpu_code.hpp>
#include <tilewright/target/gpu.hpp>

#include "gpu/corpus.hpp"
#include "gpu/workloads.hpp"

namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

/// Runs `f` until the clock is satisfied; what it throws ends the benchmark with a reason.
void repeat(benchmark::State& state, const std::function<void()>& f) {
  try {
    for (auto _ : state) f();
  } catch (const std::exception& e) {
    state.SkipWithError(e.what());
  }
}

void declare(const gpu_corpus::entry& e, bool emulated) {
  const target::gpu device = target::named_gpu("sm_90a");
  const auto program = [=] { return cu::print(pass::lower(e.scheduled, device), device); };
  const auto add = [&](const std::string& what, std::function<void(benchmark::State&)> run) {
    benchmark::RegisterBenchmark((what + "/" + e.name).c_str(), std::move(run))
        ->Unit(benchmark::kMillisecond);
  };
  if (!emulated) {
    add("lower_and_print",
        [=](benchmark::State& s) { repeat(s, [&] { benchmark::DoNotOptimize(program()); }); });
    add("nvrtc", [=](benchmark::State& s) {
      const cu::program p = program();
      repeat(s, [&] { benchmark::DoNotOptimize(cu::compile(p, device)); });
    });
    return;
  }
  add("emulator_compile", [=](benchmark::State& s) {
    const cu::program p = program();
    repeat(s, [&] { const cu::emulator kernels(p); });
  });
  add("emulate", [=](benchmark::State& s) {
    const cu::program p = program();
    std::vector<std::vector<float>> memory;
    std::vector<cu::emulated_argument> arguments;
    for (const ir::param& q : e.written.params) {
      std::int64_t size = 1;
      for (const ir::expr& extent : q.buffer->shape) size *= extent->integer;
      memory.emplace_back(static_cast<std::size_t>(size), 0.5f);
      arguments.push_back({memory.back().data(), size});
    }
    try {
      const cu::emulator kernels(p);
      repeat(s, [&] { kernels.run(arguments); });
    } catch (const std::exception& failed) {
      s.SkipWithError(failed.what());
    }
    s.counters["blocks"] = static_cast<double>(p.kernels[0].start.grid[0]) *
                           p.kernels[0].start.grid[1] * p.kernels[0].start.grid[2];
  });
}

/// Bytes of this process that lie in memory.
double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double pages = 0;
  in >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Whether a thousand compilations leave something behind: memory after a tenth of them, and after all.
void memory_of_compiling(benchmark::State& state) {
  const gpu_corpus::entry e = gpu_corpus::chain(4096);
  const target::gpu device = target::named_gpu("sm_90a");
  const cu::program p = cu::print(pass::lower(e.scheduled, device), device);
  double early = 0;
  try {
    for (auto _ : state)
      for (std::int64_t i = 1; i <= state.range(0); ++i) {
        benchmark::DoNotOptimize(cu::compile(p, device));
        if (i == state.range(0) / 10) early = resident_bytes();
      }
  } catch (const std::exception& missing) {
    state.SkipWithError(missing.what());
    return;
  }
  state.counters["MB_early"] = early * 1e-6;
  state.counters["MB_late"] = resident_bytes() * 1e-6;
  state.counters["late_over_early"] = resident_bytes() / early;
}

/// Several elementwise kernels in one run of the compiler.
void compile_together(benchmark::State& state) {
  const gpu_corpus::entry e = gpu_corpus::chain(4096);
  const target::gpu device = target::named_gpu("sm_90a");
  const std::vector<cu::program> all(static_cast<std::size_t>(state.range(0)),
                                     cu::print(pass::lower(e.scheduled, device), device));
  repeat(state, [&] { benchmark::DoNotOptimize(cu::compile_together(all, device)); });
}

/// Threads of the benchmark compile at the same time; a compilation of each is an iteration.
void compile_beside(benchmark::State& state) {
  const gpu_corpus::entry e = gpu_corpus::matmul(4096, 4096, 4096);
  const target::gpu device = target::named_gpu("sm_90a");
  const cu::program p = cu::print(pass::lower(e.scheduled, device), device);
  repeat(state, [&] { benchmark::DoNotOptimize(cu::compile(p, device)); });
}

/// Draws of the default space, each replayed and finished; `within`: as sessions draw them, within limits of the device.
void draw_candidates(benchmark::State& state, const gpu_workloads::workload& w, bool within) {
  const target::gpu device = target::named_gpu("sm_90a");
  const space::context where{&device, 1};
  const space::design_space list = space::default_gpu();
  std::vector<trace> families;
  for (const schedule& s : list.sketches(w.function, where, 1))
    families.push_back(s.trace().without_decisions());
  std::uint64_t seed = 0;
  double refused = 0;
  for (auto _ : state) {
    support::random random(++seed);
    trace t = families[seed % families.size()];
    if (within) t = search::drawn_within_limits(t, w.function, device, random);
    if (!search::replay(t, w.function, seed, nullptr, [&](schedule& s) { list.finish(s, where); }))
      ++refused;
  }
  const auto draws = static_cast<double>(state.iterations());
  state.counters["refused"] = refused / draws;
  state.counters["candidates_per_second"] =
      benchmark::Counter(draws - refused, benchmark::Counter::kIsRate);
}

/// Members of the default space, with what a search does with each before it is compiled.
class ranking {
 public:
  explicit ranking(const gpu_workloads::workload& w) : function_(w.function) {
    const space::design_space list = space::default_gpu();
    const space::context where{&device_, 1};
    std::vector<trace> families;
    for (const schedule& s : list.sketches(function_, where, 1))
      families.push_back(s.trace().without_decisions());
    for (std::uint64_t seed = 1; members_.size() < 16 && seed < 4000; ++seed) {
      support::random random(seed);
      const std::size_t family = seed % families.size();
      const trace drawn = search::drawn_within_limits(families[family], function_, device_, random);
      const auto c = search::replay(drawn, function_, seed, nullptr,
                                    [&](schedule& s) { list.finish(s, where); });
      if (c) members_.push_back({c->scheduled.trace(), {family, 1}});
    }
    options_.gpu = true;
  }

  const ir::function& function() const { return function_; }
  /// A trace, and the number of its family.
  struct member {
    trace steps;
    support::hash128 family;
  };
  const std::vector<member>& members() const { return members_; }

  /// Whether the device can run it; its score is of no interest.
  bool rank(schedule& s) const {
    try {
      space::verify_gpu_code{}(s, {&device_, 1});
    } catch (const schedule_error&) {
      return false;
    }
    ir::verify(s.function());
    ir::workload_key(s.function());
    const auto rows = cost::store_features(s.function(), options_);
    benchmark::DoNotOptimize(cost::shipped_prior().trees.score(rows.front().data(), rows.size()));
    return true;
  }

 private:
  ir::function function_;
  target::gpu device_ = target::named_gpu("sm_90a");
  cost::feature_options options_;
  std::vector<member> members_;
};

/// Each replayed from its first step on.
void rank_candidates(benchmark::State& state, const gpu_workloads::workload& w) {
  const ranking all(w);
  std::size_t next = 0;
  for (auto _ : state) {
    schedule s(all.function());
    all.members()[next++ % all.members().size()].steps.apply_to(s);
    all.rank(s);
  }
  state.SetItemsProcessed(state.iterations());
}

/// One decision changed in each, as an evolutionary search proposes them, and replayed from where others have been.
void rank_neighbours(benchmark::State& state, const gpu_workloads::workload& w) {
  const ranking all(w);
  search::detail::replay_memory memory;
  support::random random(5);
  double refused = 0, instructions = 0;
  for (auto _ : state) {
    const ranking::member& m = all.members()[random.below(all.members().size())];
    const std::optional<trace> changed = search::mutate(m.steps, random);
    instructions += static_cast<double>(changed->size());
    search::detail::replay_refusal why;
    auto c = memory.replay(m.family, *changed, all.function(), random.next(), why);
    if (!c || !all.rank(c->scheduled)) ++refused;
  }
  state.counters["refused"] = refused / static_cast<double>(state.iterations());
  state.counters["shared"] = static_cast<double>(memory.skipped()) / instructions;
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  for (const gpu_corpus::entry& e : gpu_corpus::large()) declare(e, false);
  for (const gpu_corpus::entry& e : gpu_corpus::small()) declare(e, true);
  benchmark::RegisterBenchmark("nvrtc/matmul", compile_beside)
      ->Threads(2)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("nvrtc_together/chain", compile_together)
      ->Arg(1)
      ->Arg(4)
      ->Arg(8)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("nvrtc_memory", memory_of_compiling)
      ->Arg(1000)
      ->Iterations(1)
      ->Unit(benchmark::kSecond);
  for (const gpu_workloads::workload& w : gpu_workloads::full())
    if (w.name == "C2D" || w.name == "GMM" || w.name == "SFM") {
      benchmark::RegisterBenchmark(("candidates/" + w.name).c_str(), rank_candidates, w)
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("neighbours/" + w.name).c_str(), rank_neighbours, w)
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("draws/" + w.name).c_str(), draw_candidates, w, true)
          ->Unit(benchmark::kMillisecond);
      benchmark::RegisterBenchmark(("draws_of_replays/" + w.name).c_str(), draw_candidates, w,
                                   false)
          ->Unit(benchmark::kMillisecond);
    }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
