// What kernels for GPUs cost before there is a GPU: lowering and text, NVRTC, the emulator.
//
// Names: lower_and_print/KERNEL, nvrtc/KERNEL, emulator_compile/KERNEL, emulate/KERNEL. NVRTC and the
// C++ compiler of the emulator are reported as missing where they are not installed.
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tilewright/backend/cuda/compile.hpp>
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include "gpu/corpus.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  for (const gpu_corpus::entry& e : gpu_corpus::large()) declare(e, false);
  for (const gpu_corpus::entry& e : gpu_corpus::small()) declare(e, true);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
