#include "search_strategies.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <tilewright/learning.hpp>

#include "replay_table.hpp"
#include "search_data.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

using namespace tilewright;

constexpr std::size_t marks[] = {8, 32, 64, 128};

template <search::fantasy worth>
std::unique_ptr<search::strategy> bayesian_with(std::shared_ptr<cost::model> model) {
  search::bayesian_options o;
  o.fantasy = worth;
  return search::bayesian(std::move(model), o);
}

/// Bayesian optimization by what a pick of a batch is worth to the picks after it; the default is a
/// believer.
void add_fantasies() {
  search::add_strategy_kind({"bayesian_liar", "", "trees", bayesian_with<search::fantasy::liar>});
  search::add_strategy_kind(
      {"bayesian_penalized", "", "trees", bayesian_with<search::fantasy::penalization>});
  search::add_strategy_kind({"bayesian_joint", "", "trees", bayesian_with<search::fantasy::joint>});
}

/// What a strategy did, by workload: means over seeds.
struct outcome {
  std::map<std::size_t, std::vector<double>> best;  // logarithms, after so many trials
  std::vector<double> reached;                      // trials to 95 %
  double seconds = 0, trials = 0;
};

outcome run(const search::strategy_kind& kind, const char* model,
            const std::vector<std::unique_ptr<replay_table>>& tables,
            const strategy_comparison& o) {
  outcome out;
  const double share = 1 / static_cast<double>(o.seeds);
  for (const auto& t : tables) {
    for (const std::size_t n : marks) out.best[n].push_back(0);
    out.reached.push_back(0);
    for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
      const auto s = search::make_strategy(kind.name, seed, model);
      const auto start = std::chrono::steady_clock::now();
      const std::vector<double> curve = t->curve(*s, o.trials, seed);
      out.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      out.trials += static_cast<double>(curve.size());
      for (const std::size_t n : marks)
        out.best[n].back() +=
            share * std::log(std::max(curve[std::min(n, curve.size()) - 1], 1e-3));
      std::size_t first = 0;
      while (first < curve.size() && curve[first] < 0.95) ++first;
      out.reached.back() += share * static_cast<double>(first + 1);
    }
  }
  return out;
}

}  // namespace

int run_strategies(const std::string& file, const strategy_comparison& o) {
  const std::vector<recorded_workload> all = recorded_workloads(file);
  std::vector<std::unique_ptr<replay_table>> tables;
  for (const recorded_workload& w : all) {
    if (!w.held_out()) continue;
    auto t = std::make_unique<replay_table>(w);
    if (t->size() >= o.least) tables.push_back(std::move(t));
  }
  if (tables.empty()) {
    std::fprintf(stderr, "%s has no workload of %zu programs\n", file.c_str(), o.least);
    return 2;
  }
  std::printf(
      "%zu workloads of at least %zu programs, %zu trials, %d seeds; best known / best after "
      "n trials, geometric mean [95%% of bootstrapped means over workloads]\n",
      tables.size(), o.least, o.trials, static_cast<int>(o.seeds));
  add_fantasies();
  std::optional<outcome> evolution;
  std::vector<search::strategy_kind> kinds = search::strategy_kinds();
  // what the others are compared with comes first
  std::partition(kinds.begin(), kinds.end(),
                 [](const search::strategy_kind& k) { return k.name == "evolutionary"; });
  for (const search::strategy_kind& kind : kinds) {
    if (kind.name == "exhaustive") continue;  // of a table it takes all, in order
    const outcome r = run(kind, "", tables, o);
    std::printf("%-20s", std::string(kind.name).c_str());
    for (const std::size_t n : marks) {
      const estimate e = bootstrapped(r.best.at(n));
      std::printf("  %2zu: %.3f [%.3f, %.3f]", n, std::exp(e.mean), std::exp(e.low),
                  std::exp(e.high));
    }
    std::printf("  to 95%%: %.1f  %.1f ms a trial", bootstrapped(r.reached).mean,
                1e3 * r.seconds / std::max(r.trials, 1.0));
    if (evolution)
      std::printf("  p against evolution at 32: %.3f",
                  wilcoxon(r.best.at(32), evolution->best.at(32)));
    else
      evolution = r;
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace bench
