// What a call costs beside the kernel itself: overhead per call, loops of a caller that comes now and then, and the
// first call of a process whose database is warm. `warm_first_call` runs this program again as a child, under strace where
// there is one, and counts the libraries of LLVM that it opened (none: the code comes from the
// database).
#include <benchmark/benchmark.h>

#include <tilewright/backend/pool.hpp>
#include <tilewright/tilewright.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr auto doubled =
    tw::kernel<"doubled">([](tw::in<"x", float, "N"> x, tw::out<"y", float, "N"> y) {
      using tw::axes::i;
      return y(i) = x(i) * 2.0f;
    });

constexpr auto matmul =
    tw::kernel<"matmul">([](tw::in<"A", float, "M", "K"> A, tw::in<"B", float, "K", "N"> B,
                            tw::out<"C", float, "M", "N"> C) {
      using tw::axes::i, tw::axes::j, tw::axes::k;
      return C(i, j) = tw::sum<k>(A(i, k) * B(k, j));
    });

constexpr std::size_t count = 16;

__attribute__((noinline)) void plain_doubled(const float* x, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] = x[i] * 2.0f;
}

void raw_pointer(benchmark::State& state) {
  std::vector<float> x(count, 1.0f), y(count);
  void (*volatile pointer)(const float*, float*) = plain_doubled;
  for (auto _ : state) {
    pointer(x.data(), y.data());
    benchmark::ClobberMemory();
  }
}

void tuned_call(benchmark::State& state) {
  std::vector<float> x(count, 1.0f), y(count);
  static tw::tuned op{doubled, {.seconds = 0.5}};
  op(x, y);
  for (auto _ : state) {
    op(x, y);
    benchmark::ClobberMemory();
  }
  if (y[0] != 2.0f) state.SkipWithError("wrong result");
}

/// One call of a matrix product from the database; prints its milliseconds.
int child() {
  std::vector<float> a(128 * 128, 1.0f), b(128 * 128, 1.0f), c(128 * 128);
  const auto start = std::chrono::steady_clock::now();
  tw::tuned op{matmul, {.seconds = 2}};
  op(tw::view(a.data(), {128, 128}), tw::view(b.data(), {128, 128}),
     tw::view(c.data(), {128, 128}));
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.3f\n", ms);
  return c[0] == 128.0f ? 0 : 1;
}

/// Milliseconds that the child reports; negative when it fails.
double run_child(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  double ms = -1;
  if (pipe && std::fscanf(pipe, "%lf", &ms) != 1) ms = -1;
  return pipe && pclose(pipe) == 0 ? ms : -1;
}

/// What ten parallel loops in a row, of 60 us of work each, find after a pause.
struct loops_after_pause {
  static constexpr int chunks = 8;
  static constexpr double seconds = 60e-6;
  std::atomic<int> by_workers{0};

  static void chunk(void* self, std::int64_t, int worker) {
    if (worker != 0) ++static_cast<loops_after_pause*>(self)->by_workers;
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::steady_clock::now() - start; };
    while (std::chrono::duration<double>(passed()).count() < seconds / chunks) {
    }
  }
};

/// Loops of two threads by a caller that sleeps so many milliseconds before each ten of them: the time of one, and the share
/// that the caller had to work on alone.
void after_pause(benchmark::State& state) {
  const tilewright::backend::executor& two = tilewright::backend::pool::shared().view(2);
  constexpr int loops = 10;
  int alone = 0, all = 0;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(state.range(0)));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < loops; ++i) {
      loops_after_pause one;
      two.run(two.self, loops_after_pause::chunks, &loops_after_pause::chunk, &one);
      alone += one.by_workers == 0;
      ++all;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(took.count() / loops);
  }
  state.counters["pct_alone"] = all > 0 ? 100.0 * alone / all : 0;
}

void warm_first_call(benchmark::State& state, const std::string& self) {
  const std::string folder = std::string(BENCH_SCRATCH);
  const std::string database = folder + "/bench_call.db", log = folder + "/bench_call.strace";
  const std::string environment = "TILEWRIGHT_DB=" + database + " ";
  std::system(("rm -f " + database + "*").c_str());
  if (run_child(environment + self + " --child") < 0)
    return state.SkipWithError("the tuning child failed");
  for (auto _ : state) {
    const double ms = run_child(environment + self + " --child");
    if (ms < 0) return state.SkipWithError("the warm child failed");
    state.SetIterationTime(ms * 1e-3);
  }
  if (std::system("command -v strace > /dev/null 2>&1") != 0) return;
  run_child(environment + "strace -f -e trace=openat -o " + log + " " + self + " --child");
  std::ifstream in(log);
  std::string line;
  int opened = 0;
  while (std::getline(in, line))
    opened += line.find("libLLVM") != std::string::npos && line.find("= -1") == std::string::npos;
  state.counters["libLLVM_opened"] = opened;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--child") return child();
  const std::string self = argv[0];
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RegisterBenchmark("call/raw_pointer", raw_pointer);
  benchmark::RegisterBenchmark("call/tuned", tuned_call);
  if (tilewright::backend::pool::shared().threads() > 1)
    benchmark::RegisterBenchmark("loops/after_pause_ms", after_pause)
        ->Arg(0)
        ->Arg(1)
        ->Arg(5)
        ->Arg(20)
        ->Iterations(100)
        ->UseManualTime();
  benchmark::RegisterBenchmark("warm_first_call",
                               [=](benchmark::State& s) { warm_first_call(s, self); })
      ->UseManualTime()
      ->Iterations(20)
      ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
