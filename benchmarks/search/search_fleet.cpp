#include "search_fleet.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "search_data.hpp"

namespace bench {
namespace {

using namespace tilewright;

/// Trials a second with so many ranks.
/// @param times what candidates take, in turn // s
double rate_of(const search::workload& w, const search::built& code,
               const std::vector<std::vector<double>>& times, int ranks, int milliseconds,
               const char* strategy) {
  constexpr int rounds = 4;
  search::session_options o;
  o.seconds = 1e6;
  o.batch = 4 * ranks;
  o.trials = rounds * o.batch;
  o.method = [&](std::uint64_t seed) { return search::make_strategy(strategy, seed); };
  o.measuring.builds = ranks;
  o.measuring.build = [&](const ir::function&, const target::machine&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return code;
  };
  o.measuring.runner = [&](const search::workload&) -> search::measurer {
    return [&times, next = std::size_t{0}](const search::built&,
                                           const search::measure_options&) mutable {
      search::measurement m;
      m.seconds = times[next++ % times.size()];
      return m;
    };
  };
  using clock = std::chrono::steady_clock;
  clock::time_point first{}, last{};
  int counted = 0;
  o.events = [&](const search::progress& p) {
    if (p.trials == 0) return;
    if (counted == 0) first = clock::now();  // without the checks of the default schedule
    counted = p.trials;
    last = clock::now();
  };
  search::database db(":memory:");
  search::tune(w, o, db);
  return (counted - 1) / std::chrono::duration<double>(last - first).count();
}

}  // namespace

int simulate_fleet(int milliseconds, const std::string& file) {
  const std::vector<recorded_workload> all = recorded_workloads(file, selection::curves);
  std::vector<std::vector<double>> times;
  for (const timed_trace& t : all.front().all())
    if (!t.times.empty()) times.push_back(t.times);
  if (times.empty()) times.push_back({1e-4});
  search::workload w;
  w.function = all.front().task().function;
  w.key = {ir::workload_key(w.function).hex(), "bench", "", 1};
  w.family = all.front().name();
  w.machine = target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  const schedule first = search::default_schedule(w.function, w.space, {w.machine, 1}, 42);
  const search::built code = search::build(first.function(), w.machine);
  if (!code) {
    std::fprintf(stderr, "%s\n", code.error.c_str());
    return 1;
  }
  for (const char* strategy : {"replay_traces", "evolutionary"}) {
    double alone = 0;
    for (int ranks = 1; ranks <= 64; ranks *= 2) {
      const double rate = rate_of(w, code, times, ranks, milliseconds, strategy);
      if (ranks == 1) alone = rate;
      std::printf(
          "%-14s %2d ranks of %d ms a candidate: %7.1f candidates a second, %3.0f %% of "
          "linear\n",
          strategy, ranks, milliseconds, rate, 100 * rate / (ranks * alone));
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace bench
