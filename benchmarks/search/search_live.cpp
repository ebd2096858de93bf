#include "search_live.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/cost/prior_file.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "search_data.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

using namespace tilewright;

/// @param prior file; empty: the shipped one
search::tuning_result tuned(const recorded_workload& of, int trials, std::uint64_t seed,
                            const std::string& prior) {
  search::workload w;
  w.function = of.task().function;
  w.key = {ir::workload_key(w.function).hex(), "bench", "", 1};
  w.family = of.name();
  w.machine = target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  search::session_options o;
  o.seconds = 1e6;
  o.trials = trials;
  o.seed = seed;
  if (!prior.empty())
    o.method = [&](std::uint64_t s) {
      return search::evolutionary(cost::load_prior(prior, s).model);
    };
  search::database db(":memory:");
  return search::tune(w, o, db);
}

}  // namespace

int compare_live(const live_comparison& o) {
  if (const cost::loaded_prior p = cost::load_prior(o.before); !p.model) {
    std::fprintf(stderr, "%s\n", p.problem.c_str());
    return 2;
  }
  std::vector<double> logs;
  for (const recorded_workload& w : recorded_workloads("", selection::held_out)) {
    if (logs.size() == o.workloads) break;
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
      const search::tuning_result many = tuned(w, o.many, seed, o.before),
                                  few = tuned(w, o.few, seed, {});
      sum += std::log(many.best / few.best) / static_cast<double>(o.seeds);
      std::printf("%-16s seed %d: %.4g us after %d, %.4g us after %d with the one before\n",
                  w.name().c_str(), static_cast<int>(seed), 1e6 * few.best, few.trials,
                  1e6 * many.best, many.trials);
      std::fflush(stdout);
    }
    logs.push_back(sum);
  }
  const estimate e = bootstrapped(logs);
  std::printf(
      "%zu workloads, %d seeds: best after %d trials with the prior before / after %d with "
      "the shipped one %.3f [%.3f, %.3f]\n",
      logs.size(), static_cast<int>(o.seeds), o.many, o.few, std::exp(e.mean), std::exp(e.low),
      std::exp(e.high));
  return 0;
}

}  // namespace bench
