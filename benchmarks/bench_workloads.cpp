// Tilewright against the libraries people use, on the same data in the same run: the paper's twelve workloads, its
// convolutions with channels first, what else users run, and convolutions that allow Winograd's rounding, whose peers
// compute the convolution itself.
//
// Benchmarks are named WORKLOAD/ENGINE/threads:N. Every engine's output is compared with the nest in double precision
// before it is timed, with a tolerance by the length of the reduction; one that differs is reported and not timed. The
// engines of a workload are timed in turn, on outputs and a workspace that were poisoned before each round; the time of
// a benchmark is the shortest call of its engine. Peers that are not there are named before, and a table ends the
// output. results/workload_table.py makes a table and a chart of --benchmark_out=FILE, with PyTorch's and Halide's times
// from peers/python_kernels.py where they are given.
//
//   bench_workloads [--sets=twelve,nchw,beyond,winograd] [--only=GMM,SFM] [--engines=tilewright,onednn] [--threads=1,2]
//                   [--seconds=10] [--rounds=15] [--database=FILE] [Google Benchmark's options]
//
// Every workload is tuned for --seconds, from nothing: schedules that an older library found say nothing of this one. A vector
// times a matrix on two threads took 34 us by one that ran on one thread, and takes 19 us. --database=FILE keeps what is found,
// for the next run of the same build.
//
// --curves=FILE runs Tilewright alone, in sessions of --seconds from nothing with --seed, and appends the best time
// after 0, 1, 2, ... trials to FILE, lines "workload,set,group,threads,seed,trials,seconds"; results of what the sessions
// found are compared as ever. After 0 trials stands the default schedule's time in turns with what the session found,
// since the first measurement of a session finds a core that is not at its speed yet. results/trial_curve.py makes a table and a chart of such files.
//
//   bench_workloads --curves=trials.csv --seconds=20 [--seed=1]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/dispatch/workspace.hpp>

#include "peak.hpp"
#include "problems/compiled_nest.hpp"
#include "problems/dense/dense_workload.hpp"
#include "problems/fields/argument_memory.hpp"
#include "turns.hpp"

namespace bench {
namespace {

const char* const untuned = "default";  // the schedule before any trial

struct options {
  std::vector<std::string> sets{"twelve", "nchw", "beyond", "winograd"}, only, engines,
      threads{"1"};
  double seconds = 10;
  int rounds = 15;
  std::string curves;  // a file; empty: none
  std::string database = ":memory:";
  std::uint64_t seed = 42;
};

/// Removes our options from the command line.
options read_options(int& argc, char** argv) {
  options out;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals),
                      value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name == "--sets")
      out.sets = words(value);
    else if (name == "--only")
      out.only = words(value);
    else if (name == "--engines")
      out.engines = words(value);
    else if (name == "--threads")
      out.threads = words(value);
    else if (name == "--seconds")
      out.seconds = std::atof(value.c_str());
    else if (name == "--rounds")
      out.rounds = std::atoi(value.c_str());
    else if (name == "--database")
      out.database = value;
    else if (name == "--curves")
      out.curves = value;
    else if (name == "--seed")
      out.seed = std::strtoull(value.c_str(), nullptr, 10);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  if (!out.curves.empty()) {
    out.engines = {"tilewright", untuned};
    out.rounds = 9;
  }
  return out;
}

template <class T, class U>
bool among(const std::vector<T>& list, const U& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// What the bars of first answers tell apart: "sums" of products, convolutions among them, and "other".
const char* group_of(const dense_workload& w) {
  switch (w.shape.kind) {
    case dense_kind::product:
    case dense_kind::double_product:
    case dense_kind::heads:
    case dense_kind::dense_gelu:
    case dense_kind::convolution:
    case dense_kind::scaled_convolution: return "sums";
    default: return w.problem.name.rfind("GEMM", 0) == 0 ? "sums" : "other";
  }
}

/// Best times of a workload's sessions, which begin from nothing, as lines of a file.
class trial_log {
 public:
  trial_log(const dense_workload& w, int threads, const options& o)
      : file_(o.curves),
        seed_(o.seed),
        line_(w.problem.name + "," + w.set + "," + group_of(w) + "," + std::to_string(threads) +
              "," + std::to_string(o.seed) + ",") {}

  /// The log outlives the op.
  void follow(tilewright::tuned_options& tuning) {
    tuning.database = ":memory:";
    tuning.seed = seed_;
    tuning.events = [this](const tilewright::search::event& e) {
      const tilewright::search::progress& p = e.state;
      if (e.what != tilewright::search::event::kind::progress || p.trials <= told_) return;
      told_ = p.trials;
      best_.emplace_back(p.trials, std::min(p.best, p.baseline));
    };
  }
  /// @param found,first seconds of what the session found and of the default schedule, timed in turn. Of a space without
  /// candidates the default schedule is all there is
  void end(double found, double first) const {
    const double last = best_.empty() ? found : best_.back().second,
                 before = best_.empty() ? found : last * std::max(1.0, first / found);
    write(0, before);
    for (const auto& [trials, seconds] : best_) write(trials, std::min(seconds, before));
  }

 private:
  void write(int trials, double seconds) const {
    std::ofstream(file_, std::ios::app) << line_ << trials << "," << seconds << "\n";
  }
  std::string file_;
  std::uint64_t seed_;
  std::string line_;
  int told_ = 0;                              // trials
  std::vector<std::pair<int, double>> best_;  // s, after so many trials
};

/// One engine on one workload and number of threads.
struct entry {
  std::string name, error;
  prepared job;
  double best = 1e30, max_err = 0;  // s; relative to the largest output
  std::vector<double> rounds;       // s, the mean call of each
  double median() const {
    std::vector<double> sorted = rounds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

/// A workload with its data, prepared and timed when the first of its benchmarks runs.
class race {
 public:
  race(dense_workload w, int count, const options& o, const std::vector<dense_peer>& peers)
      : what(std::move(w)), threads(count), options_(o), peers_(peers) {}

  /// Of engines that might run.
  std::vector<std::string> names() const {
    std::vector<std::string> out{"tilewright"};
    if (what.bound) out.push_back("tilewright_bound");
    if (threads == 1) out.push_back("plain");
    if (!options_.curves.empty()) out.push_back(untuned);
    for (const dense_peer& p : peers_)
      if (among(p.kinds, what.shape.kind)) out.push_back(p.name);
    std::vector<std::string> wanted;
    for (const std::string& name : out)
      if (options_.engines.empty() || among(options_.engines, name)) wanted.push_back(name);
    return wanted;
  }
  const entry& of(const std::string& name) {
    if (!ran_) run();
    for (const entry& e : entries_)
      if (e.name == name) return e;
    return nobody_;
  }
  bool ran() const { return ran_; }
  const std::vector<entry>& entries() const { return entries_; }

  const dense_workload what;
  const int threads;

 private:
  void run() {
    ran_ = true;
    std::mt19937 generator(7);
    std::vector<argument_memory> want;
    std::vector<void*> wide;
    for (const field_argument& a : what.problem.arguments) {
      memory_.emplace_back(a).draw(generator);
      at_.push_back(memory_.back().data());
      want.push_back(memory_.back().widened());
      wide.push_back(want.back().data());
    }
    const compiled_nest nest(what.problem.nest);
    if (!nest.plain || !nest.in_double) {
      nobody_.error = "clang does not compile the nest";
      return;
    }
    nest.in_double(wide.data());
    for (const std::string& name : names()) {
      entry e{name, {}, prepare(name, nest), 1e30, 0, {}};
      if (!e.job.run) continue;
      check(e, want.back());
      entries_.push_back(std::move(e));
    }
    time();
    if (!options_.curves.empty() && entries_.size() == 2)
      log_.end(entries_.front().best, entries_.back().best);
    for (entry& e : entries_) e.job = {};
    memory_.clear();
  }

  prepared prepare(const std::string& name, const compiled_nest& nest) {
    tilewright::tuned_options o;
    o.seconds = options_.seconds;
    o.threads = threads;
    o.database = options_.database;
    if (name == untuned) {
      o.database = ":memory:";
      o.mode = tilewright::mode::off;
      return {what.problem.tuned(at_.data(), o), {}};
    }
    if (!options_.curves.empty()) log_.follow(o);
    if (name == "tilewright") return {what.problem.tuned(at_.data(), o), {}};
    if (name == "tilewright_bound") return {what.bound(at_.data(), o), {}};
    if (name == "plain") return {[this, f = nest.plain] { f(at_.data()); }, {}};
    for (const dense_peer& p : peers_)
      if (p.name == name) return p.prepare(what.shape, at_.data(), threads);
    return {};
  }

  void poison() {
    memory_.back().poison();
    tilewright::dispatch::poison_workspace();
  }

  /// Runs it on poisoned memory and compares.
  void check(entry& e, const argument_memory& want) {
    e.job.run();  // tunes, or allocates the workspace that is poisoned next
    poison();
    e.job.run();
    if (e.job.fetch) e.job.fetch();
    e.max_err = memory_.back().error(want);
    if (!(e.max_err <= std::max(what.error, memory_.back().bound(what.terms))))
      e.error = "wrong result: relative error " + std::to_string(e.max_err);
  }

  /// All engines in turn.
  void time() {
    constexpr double round_seconds = 0.01, most = 0.6;
    for (int round = 0; round < options_.rounds; ++round)
      for (entry& e : entries_) {
        if (!e.error.empty() || e.best * round > most) continue;
        poison();
        wait_for_workers();
        double spent = 0;
        int calls = 0;
        for (; calls < 3 || spent < round_seconds; ++calls) {
          const auto start = std::chrono::steady_clock::now();
          e.job.run();
          const double took =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          spent += took;
          e.best = std::min(e.best, took);
          if (spent > most / 2) {
            ++calls;
            break;
          }
        }
        e.rounds.push_back(spent / calls);
      }
  }

  options options_;
  trial_log log_{what, threads, options_};
  const std::vector<dense_peer>& peers_;
  bool ran_ = false;
  std::vector<argument_memory> memory_;
  std::vector<void*> at_;
  std::vector<entry> entries_;
  entry nobody_{"", "not offered", {}, 0, 0, {}};
};

struct ceilings {
  double gflops, gbs;
};

void run(benchmark::State& state, race& r, const std::string& name, const ceilings& machine) {
  const entry& e = r.of(name);
  if (!e.error.empty()) return state.SkipWithError(e.error.c_str());
  for (auto _ : state) state.SetIterationTime(e.best);
  const dense_workload& w = r.what;
  const double peak =
      machine.gflops * 1e9 * r.threads / (w.shape.kind == dense_kind::double_product ? 2 : 1);
  const double roof = std::min(peak, w.flops / w.bytes * machine.gbs * 1e9 * r.threads);
  state.SetLabel(w.set);
  state.counters["median_us"] = e.median() * 1e6;
  state.counters["gflops"] = w.flops / e.best * 1e-9;
  state.counters["gbs"] = w.bytes / e.best * 1e-9;
  state.counters["pct_peak"] = 100.0 * w.flops / e.best / peak;
  state.counters["pct_roofline"] = 100.0 * w.flops / e.best / roof;
  state.counters["max_rel_err"] = e.max_err;
}

bool is_ours(const entry& e) { return e.name.rfind("tilewright", 0) == 0 || e.name == untuned; }

/// The fastest right one of ours or of the others; null: none.
const entry* fastest(const race& r, bool ours) {
  const entry* out = nullptr;
  for (const entry& e : r.entries())
    if (e.error.empty() && is_ours(e) == ours && (!out || e.best < out->best)) out = &e;
  return out;
}

void print_table(const std::vector<std::shared_ptr<race>>& races) {
  std::printf("\n%-18s %2s %11s  %-20s %11s  %s\n", "workload", "th", "us", "fastest peer", "us",
              "its time by ours");
  summary over;
  for (const auto& r : races) {
    if (!r->ran()) continue;
    for (const entry& e : r->entries())
      if (!e.error.empty())
        std::printf("%-18s %2d %s: %s\n", r->what.problem.name.c_str(), r->threads, e.name.c_str(),
                    e.error.c_str());
    const entry *ours = fastest(*r, true), *theirs = fastest(*r, false);
    if (!ours || !theirs) continue;
    const double ratio = theirs->best / ours->best;
    std::printf("%-18s %2d %11.2f  %-20s %11.2f  %.3f\n", r->what.problem.name.c_str(), r->threads,
                ours->best * 1e6, theirs->name.c_str(), theirs->best * 1e6, ratio);
    over.add(r->what.set + ":" + std::to_string(r->threads), ratio);
  }
  over.print();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const options o = read_options(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const ceilings machine{fma_peak_gflops(), read_bandwidth_gbs()};
  std::printf("one core: %.1f GFLOP/s f32 FMA peak, %.1f GB/s read bandwidth, both measured\n",
              machine.gflops, machine.gbs);
  std::vector<dense_peer> peers = onednn_peers();
  for (dense_peer& p : blas_peers()) peers.push_back(std::move(p));
  peers.push_back(eigen_peer());
  peers.push_back(libxsmm_peer());
  for (const dense_peer& p : peers)
    if (!p.prepare) std::printf("missing: %s: %s\n", p.name.c_str(), p.missing.c_str());
  peers.erase(
      std::remove_if(peers.begin(), peers.end(), [](const dense_peer& p) { return !p.prepare; }),
      peers.end());

  std::vector<std::shared_ptr<race>> races;
  for (const std::string& threads : o.threads)
    for (const dense_workload& w : dense_workloads()) {
      if (!among(o.sets, w.set) || (!o.only.empty() && !among(o.only, w.problem.name))) continue;
      races.push_back(std::make_shared<race>(w, std::atoi(threads.c_str()), o, peers));
      const std::shared_ptr<race> r = races.back();
      for (const std::string& name : r->names())
        benchmark::RegisterBenchmark((w.problem.name + "/" + name + "/threads:" + threads).c_str(),
                                     [=](benchmark::State& s) { run(s, *r, name, machine); })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMicrosecond);
    }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  print_table(races);
}
