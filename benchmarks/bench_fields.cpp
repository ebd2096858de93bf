// Kernels as users in six fields write them (high-performance computing, signal processing,
// robotics, games, finance, inference), and scans, each tuned for a few seconds on one thread, beside a plain nest
// that clang compiles with -O3 -march=native -ffast-math, and beside Eigen where its users would take it.
//
// Benchmarks are named FIELD/KERNEL/ENGINE/threads:1. Outputs are compared with the nest in double
// precision before anything is timed. The engines of a kernel are timed in turn, by the processor time
// of their thread, and the time of a benchmark is the shortest of its engine. A table of the kernels ends
// the output, with ratios of the shortest and of the median times.
//
//   bench_fields [--seconds=5] [Google Benchmark's options]
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "problems/compiled_nest.hpp"
#include "problems/fields/argument_memory.hpp"
#include "problems/fields/field_problem.hpp"
#include "turns.hpp"

namespace bench {
namespace {

/// Processor time of this thread, s.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Processor time of a call, s: the mean of as many as take 100 us, beside which reading the clock
/// takes nothing.
double time_of(const std::function<void()>& call) {
  for (int calls = 1;; calls *= 2) {
    const double start = thread_seconds();
    for (int i = 0; i < calls; ++i) call();
    const double took = thread_seconds() - start;
    if (took >= 1e-4) return took / calls;
  }
}

/// A kernel, prepared and timed when the first of its benchmarks runs.
class race {
 public:
  race(field_problem p, double seconds) : problem(std::move(p)), seconds_(seconds) {}

  struct entry {
    std::string error = "not run";
    double best = 0, median = 0;  // s
    double max_err = 0;           // relative to the largest output
  };
  const entry& of(const std::string& name) {
    if (!ran_) run();
    return name == "tilewright" ? tilewright_ : name == "nest" ? nest_ : eigen_;
  }
  bool ran() const { return ran_; }

  const field_problem problem;

 private:
  void run() {
    ran_ = true;
    std::mt19937 generator(7);
    std::vector<argument_memory> memory, want;
    std::vector<void*> at, wide;
    for (const field_argument& a : problem.arguments) {
      memory.emplace_back(a).draw(generator);
      at.push_back(memory.back().data());
      want.push_back(memory.back().widened());
      wide.push_back(want.back().data());
    }
    const compiled_nest nest(problem.nest);
    if (!nest.plain || !nest.in_double) {
      tilewright_.error = nest_.error = eigen_.error = "clang does not compile the nest";
      return;
    }
    nest.in_double(wide.data());
    tilewright::tuned_options o;
    o.seconds = seconds_;
    o.database = ":memory:";
    o.threads = 1;
    std::vector<entry*> entries;
    std::vector<engine> engines;
    const auto enter = [&](entry& e, const char* name, const std::function<void()>& call) {
      for (argument_memory& m : memory)
        if (m.of.written) m.poison();
      call();
      e.error.clear();
      for (std::size_t i = 0; i < memory.size(); ++i) {
        if (!memory[i].of.written) continue;
        const double error = memory[i].error(want[i]);
        e.max_err = std::max(e.max_err, error);
        if (!(error <= memory[i].bound()))
          e.error = "wrong result: relative error " + std::to_string(error);
      }
      if (!e.error.empty()) return;
      entries.push_back(&e);
      engines.push_back({name, call, {}, [call] { return time_of(call); }});
    };
    enter(tilewright_, "tilewright", problem.tuned(at.data(), o));
    enter(nest_, "nest", [&] { nest.plain(at.data()); });
    if (problem.eigen) enter(eigen_, "eigen", [&] { problem.eigen(at.data()); });
    take_turns(engines);
    for (std::size_t i = 0; i < engines.size(); ++i)
      entries[i]->best = engines[i].best(), entries[i]->median = engines[i].median();
  }

  double seconds_;
  bool ran_ = false;
  entry tilewright_, nest_, eigen_;
};

using races = std::vector<std::shared_ptr<race>>;

races all(double seconds) {
  races out;
  for (const auto field : {fields::hpc, fields::signal, fields::robotics, fields::games,
                           fields::finance, fields::inference, fields::scans})
    for (field_problem& p : field()) out.push_back(std::make_shared<race>(std::move(p), seconds));
  return out;
}

void run(benchmark::State& state, race& r, const std::string& name) {
  const race::entry& e = r.of(name);
  if (!e.error.empty()) return state.SkipWithError(e.error.c_str());
  for (auto _ : state) state.SetIterationTime(e.best);
  state.counters["max_rel_err"] = e.max_err;
}

void print_table(const races& all) {
  summary over;
  std::printf(
      "\nshortest processor time, and the others' time by Tilewright's: shortest (median)\n");
  for (const auto& r : all) {
    if (!r->ran()) continue;
    const race::entry& mine = r->of("tilewright");
    std::printf("%-28s", r->problem.name.c_str());
    if (!mine.error.empty()) {
      std::printf(" %s\n", mine.error.c_str());
      continue;
    }
    std::printf(" %10.1f us", mine.best * 1e6);
    for (const char* name : {"nest", "eigen"}) {
      const race::entry& peer = r->of(name);
      if (!peer.error.empty()) continue;
      std::printf("  %s %6.2f (%.2f)", name, peer.best / mine.best, peer.median / mine.median);
      over.add(name, peer.best / mine.best);
    }
    std::printf("\n");
  }
  over.print();
}

/// Removes our option from the command line.
double read_seconds(int& argc, char** argv) {
  constexpr std::string_view head = "--seconds=";
  double out = 5;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).substr(0, head.size()) == head)
      out = std::atof(argv[i] + head.size());
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  return out;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const double seconds = read_seconds(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const races kernels = all(seconds);
  for (const auto& r : kernels)
    for (const std::string name : {"tilewright", "nest", "eigen"}) {
      if (name == "eigen" && !r->problem.eigen) continue;
      benchmark::RegisterBenchmark((r->problem.name + "/" + name + "/threads:1").c_str(),
                                   [=](benchmark::State& s) { run(s, *r, name); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  print_table(kernels);
}
