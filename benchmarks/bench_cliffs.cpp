// Is there a cliff? Seeded computations in layouts, strides, extents and types of all kinds, each
// tuned for a few seconds, beside a plain nest that clang compiles with -O3 -march=native
// -ffast-math, and beside oneDNN in its best layout where it offers the computation.
//
// Benchmarks are named NUMBER_KIND_LAYOUT_TYPE/ENGINE/threads:1. Outputs are compared with the nest
// in double precision before anything is timed. The engines of a problem are timed in turn, and the
// time of a benchmark is the shortest of its engine. A table of the problems below the bars ends the
// output, and how soon sessions had what they ended with.
//
//   bench_cliffs [--seed=1] [--first=0] [--count=200] [--seconds=5] [Google Benchmark's options]
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/dispatch/packed_weights.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>

#include "problems/cliff_problems.hpp"
#include "problems/compiled_nest.hpp"

namespace bench {
namespace {

struct options {
  std::uint64_t seed = 1;
  int first = 0, count = 200;
  double seconds = 5;
};

/// Removes our options from the command line.
options read_options(int& argc, char** argv) {
  options out;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const auto value = [&](const char* name) -> const char* {
      const std::string head = std::string("--") + name + "=";
      return text.rfind(head, 0) == 0 ? text.c_str() + head.size() : nullptr;
    };
    if (const char* v = value("seed"))
      out.seed = std::strtoull(v, nullptr, 10);
    else if (const char* v1 = value("first"))
      out.first = std::atoi(v1);
    else if (const char* v2 = value("count"))
      out.count = std::atoi(v2);
    else if (const char* v3 = value("seconds"))
      out.seconds = std::atof(v3);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  return out;
}

std::size_t bytes_of(const std::string& type) {
  return type == "int8" ? 1 : type == "float64" ? 8 : 4;
}

template <class F>
void with_type(const std::string& type, F f) {
  if (type == "float32") f(float{});
  if (type == "float64") f(double{});
  if (type == "int8") f(std::int8_t{});
  if (type == "int32") f(std::int32_t{});
}

/// Memory of one parameter, aligned to cache lines.
struct buffer {
  std::string type;
  std::size_t count = 1;
  bool written = false;
  std::unique_ptr<std::byte, decltype(&std::free)> memory{nullptr, &std::free};

  explicit buffer(const cliff_argument& a) : type(a.type), written(a.written) {
    for (const int e : a.extents) count *= static_cast<std::size_t>(e);
    const std::size_t bytes = (count * bytes_of(type) + 127) / 64 * 64;
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(64, bytes)));
  }
  void fill(std::mt19937& generator) {
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      T* at = reinterpret_cast<T*>(memory.get());
      for (std::size_t i = 0; i < count; ++i) {
        const int drawn = static_cast<int>(generator() % 2001) - 1000;
        at[i] = std::is_integral_v<T> ? static_cast<T>(drawn % 9)
                                      : static_cast<T>(static_cast<double>(drawn) / 1000);
      }
    });
  }
  void poison() { std::memset(memory.get(), 0xa5, count * bytes_of(type)); }
  std::vector<double> values() const {
    std::vector<double> out(count);
    with_type(type, [&](auto zero) {
      const auto* at = reinterpret_cast<const decltype(zero)*>(memory.get());
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(at[i]);
    });
    return out;
  }
};

/// One engine on one problem.
struct engine {
  std::string name, error;
  prepared job;
  double best = 0;     // s
  double max_err = 0;  // relative to the largest output
};

/// A problem with its data, prepared and timed when the first of its benchmarks runs.
class race {
 public:
  race(cliff_problem p, double seconds) : problem(std::move(p)), seconds_(seconds) {}

  engine& of(const std::string& name) {
    if (engines_.empty()) run();
    for (engine& e : engines_)
      if (e.name == name) return e;
    engines_.push_back({name, "not offered", {}, 0, 0});
    return engines_.back();
  }

  bool ran() const { return !engines_.empty(); }
  double seconds() const { return seconds_; }

  const cliff_problem problem;
  std::string remarks;
  int trials = 0;
  double tuned_for = 0;  // s
  double fallback = 0;   // s, the schedule before any measurement

  /// The shortest time after some trials of the session.
  struct moment {
    int trials;
    double best;  // s
  };
  std::vector<moment> course;

 private:
  void run() {
    engines_.reserve(8);
    std::mt19937 generator(7);
    for (const cliff_argument& a : problem.arguments) {
      buffers_.emplace_back(a).fill(generator);
      data_.push_back(buffers_.back().memory.get());
    }
    const compiled_nest nest(problem.nest);
    if (!nest.plain || !nest.in_double) {
      engines_.push_back({"plain", "clang does not compile the nest", {}, 0, 0});
      return;
    }
    reference(nest);
    engines_.push_back({"tilewright", "", tuned(), 0, 0});
    engines_.push_back({"plain", "", {[this, f = nest.plain] { f(data_.data()); }, {}}, 0, 0});
    if (problem.conv)
      if (prepared p = onednn_convolution(*problem.conv, data_[0], data_[1], data_[2]); p.run)
        engines_.push_back({"onednn_best_layout", "", std::move(p), 0, 0});
    for (engine& e : engines_) check(e);
    time();
    for (engine& e : engines_) e.job = {};
    buffers_.clear();
  }

  void reference(const compiled_nest& nest) {
    std::vector<std::vector<double>> values;
    std::vector<void*> addresses;
    for (const buffer& b : buffers_)
      addresses.push_back(
          values.emplace_back(b.written ? std::vector<double>(b.count) : b.values()).data());
    for (std::size_t i = 0; i < values.size(); ++i) addresses[i] = values[i].data();
    nest.in_double(addresses.data());
    want_ = values.back();
  }

  prepared tuned() {
    using namespace tilewright;
    const auto machine = std::make_shared<target::cpu>(target::host());
    machine->cores = 1;
    search::workload w;
    w.function = ir::parse(problem.script);
    w.key = {ir::workload_key(w.function).hex(), machine->isa_key(), "cliffs", 1};
    w.family = search::family_of(w.function);
    for (const cliff_argument& a : problem.arguments)
      w.extents.insert(w.extents.end(), a.extents.begin(), a.extents.end());
    w.machine = machine.get();
    w.exec = &backend::serial_executor();
    w.space = space::default_cpu();
    search::session_options o;
    o.seconds = seconds_;
    search::database db(":memory:");
    o.events = [this](const search::progress& p) {
      if (p.baseline <= 0) return;
      if (course.empty()) course.push_back({0, p.baseline});
      course.push_back({p.trials, p.best > 0 ? std::min(p.best, p.baseline) : p.baseline});
    };
    const search::tuning_result r = search::tune(w, o, db);
    trials = r.trials;
    tuned_for = r.seconds;
    fallback = r.baseline;
    // the final timing takes turns, which the first measurement of the default schedule does not
    if (!course.empty() && r.best > 0)
      course.front().best = course.back().best * std::max(1.0, r.baseline / r.best);
    for (const std::string& remark : r.remarks) remarks += remark + "; ";
    const auto code = backend::load(r.code);
    std::vector<const void*> bound(data_.size(), nullptr);
    if (!code->packed_bytes().empty()) bound[1] = data_[1];
    const auto packed = std::make_shared<dispatch::packed_weights>(
        code->packed_bytes().empty()
            ? dispatch::packed_weights()
            : dispatch::packed_weights(*code, bound, 0, backend::serial_executor()));
    const auto workspace = std::make_shared<std::vector<std::byte>>(
        static_cast<std::size_t>(code->workspace_bytes()) + 64);
    std::vector<void*> arguments = data_;
    arguments.insert(arguments.end(), packed->data().begin(), packed->data().end());
    return {[=] {
              void* start = workspace->data();
              std::size_t room = workspace->size();
              std::align(64, room - 63, start, room);
              const backend::call c{arguments.data(),
                                    nullptr,
                                    static_cast<std::byte*>(start),
                                    &backend::serial_executor(),
                                    nullptr,
                                    nullptr};
              (*code)(c);
              static_cast<void>(packed);
            },
            {}};
  }

  /// Runs it once on poisoned memory and compares.
  void check(engine& e) {
    if (!e.error.empty()) return;
    buffer& result = buffers_.back();
    result.poison();
    e.job.run();
    if (e.job.fetch) e.job.fetch();
    const std::vector<double> got = result.values();
    double largest = 1e-30, error = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::abs(want_[i]));
      error = std::max(error, std::isfinite(got[i]) ? std::abs(got[i] - want_[i]) : 1e30);
    }
    e.max_err = error / largest;
    const double unit = result.type == "float64" ? 1e-15 : result.type == "float32" ? 1e-7 : 0;
    if (!(e.max_err <= unit * (20 + 4 * std::sqrt(static_cast<double>(problem.terms)))))
      e.error = "wrong result: relative error " + std::to_string(e.max_err);
  }

  /// All engines in turn, each call on outputs that were poisoned.
  void time() {
    using clock = std::chrono::steady_clock;
    constexpr int rounds = 9;
    constexpr double round_seconds = 0.01;
    for (engine& e : engines_) e.best = 1e30;
    for (int round = 0; round < rounds; ++round)
      for (engine& e : engines_) {
        if (!e.error.empty()) continue;
        buffers_.back().poison();
        double spent = 0;
        for (int calls = 0; calls < 3 || spent < round_seconds; ++calls) {
          const clock::time_point start = clock::now();
          e.job.run();
          const double took = std::chrono::duration<double>(clock::now() - start).count();
          spent += took;
          e.best = std::min(e.best, took);
          if (spent > 0.3) break;
        }
      }
  }

  double seconds_;
  std::vector<buffer> buffers_;
  std::vector<void*> data_;
  std::vector<double> want_;
  std::vector<engine> engines_;
};

/// What share of the best time of its session a problem's best had after so many trials; 0 trials:
/// of the default schedule.
double share_after(const race& r, int trials) {
  const std::vector<race::moment>& course = r.course;
  double then = course.front().best;
  for (const race::moment& at : course)
    if (at.trials <= trials) then = std::min(then, at.best);
  return course.back().best / then;
}

/// How soon sessions had what they ended with, geometric mean and least.
void print_course(const std::vector<std::shared_ptr<race>>& races) {
  std::printf("best of the first trials by the best of the session, geometric mean (least):");
  for (const int trials : {0, 1, 2, 4, 8, 16}) {
    double logs = 0, least = 1;
    int count = 0;
    for (const auto& r : races) {
      if (!r->ran() || r->course.empty()) continue;
      const double share = share_after(*r, trials);
      logs += std::log(share), ++count;
      least = std::min(least, share);
    }
    if (count > 0) std::printf("  %d: %.3f (%.2f)", trials, std::exp(logs / count), least);
  }
  std::printf("\n");
}

/// How the races ended: problems below the bars, and the mean of those that oneDNN has.
void summarize(const std::vector<std::shared_ptr<race>>& races) {
  double logs = 0;
  int peers = 0, done = 0, slower = 0, low = 0, wrong = 0, late = 0;
  std::printf("\nbelow the bars (us; ratios are the other's time by Tilewright's):\n");
  for (const auto& r : races) {
    if (!r->ran()) continue;
    const engine &mine = r->of("tilewright"), &nest = r->of("plain"),
                 &peer = r->of("onednn_best_layout");
    if (!mine.error.empty()) ++wrong;
    if (!mine.error.empty() || !nest.error.empty()) {
      std::printf("  %-22s %s %s\n", r->problem.name.c_str(), mine.error.c_str(),
                  nest.error.c_str());
      continue;
    }
    ++done;
    const double by_nest = nest.best / mine.best;
    const double by_peer = peer.error.empty() ? peer.best / mine.best : 0;
    if (by_peer > 0) logs += std::log(by_peer), ++peers;
    if (by_nest < 0.97) ++slower;
    if (by_peer > 0 && by_peer < 0.7) ++low;
    if (r->tuned_for > 1.2 * r->seconds()) ++late;
    if (by_nest < 0.97 || (by_peer > 0 && by_peer < 0.7))
      std::printf(
          "  %-22s %9.1f  nest %5.2f  onednn %5.2f  (%d trials in %.1f s, untuned %.1f) %s\n",
          r->problem.name.c_str(), mine.best * 1e6, by_nest, by_peer, r->trials, r->tuned_for,
          r->fallback * 1e6, r->remarks.c_str());
  }
  std::printf(
      "%d problems: %d wrong, %d slower than the nest, %d of %d below 0.7 of oneDNN, geometric "
      "mean "
      "over oneDNN's %.3f, %d sessions longer than 1.2 times their budget\n",
      done, wrong, slower, low, peers, peers ? std::exp(logs / peers) : 0, late);
}

void run(benchmark::State& state, const std::shared_ptr<race>& r, const std::string& name) {
  const engine& e = r->of(name);
  if (!e.error.empty()) return state.SkipWithError(e.error.c_str());
  for (auto _ : state) state.SetIterationTime(e.best);
  state.counters["gflops"] = r->problem.flops / e.best * 1e-9;
  state.counters["max_rel_err"] = e.max_err;
  if (name == "tilewright") {
    state.counters["trials"] = r->trials;
    state.counters["tune_seconds"] = r->tuned_for;
    state.counters["untuned_us"] = r->fallback * 1e6;
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const options o = read_options(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  std::vector<std::shared_ptr<race>> races;
  for (int i = o.first; i < o.first + o.count; ++i) {
    races.push_back(std::make_shared<race>(make_cliff_problem(o.seed, i), o.seconds));
    const std::shared_ptr<race> r = races.back();
    for (const char* name : {"tilewright", "plain", "onednn_best_layout"}) {
      if (std::string(name) == "onednn_best_layout" && !r->problem.conv) continue;
      benchmark::RegisterBenchmark((r->problem.name + "/" + name + "/threads:1").c_str(),
                                   [=](benchmark::State& s) { run(s, r, name); })
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  summarize(races);
  print_course(races);
}
