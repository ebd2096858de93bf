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
#include <tilewright/search/trace_coordinates.hpp>

#include "search_data.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

using namespace tilewright;

constexpr std::size_t marks[] = {8, 16, 24, 48};

/// A workload's recorded programs as candidates: the whole space of a replayed search.
class replay_table {
 public:
  explicit replay_table(const recorded_workload& w)
      : task_(w.task()), coordinates_(task_.sketches) {
    for (const timed_trace& t : w.all()) {
      if (!t.drawn) continue;
      auto c = search::replay(trace::parse(t.trace), task_.function, 1);
      if (!c) continue;
      points_.push_back(coordinates_.of(c->scheduled.trace()));
      members_.push_back(std::move(*c));
      times_.push_back(&t);
      best_ = std::min(best_, t.seconds());
    }
  }

  std::size_t size() const { return members_.size(); }

  /// best known / best so far, after each trial.
  std::vector<double> curve(search::strategy& s, std::size_t trials, std::uint64_t seed) {
    std::vector<bool> had(size(), false);
    support::random noise(seed + 1000);
    s.start(task_, seed);
    std::vector<double> out;
    double so_far = std::numeric_limits<double>::infinity();
    int empty = 0;
    while (out.size() < std::min(trials, size()) && empty < 3) {
      const std::vector<search::candidate> batch =
          s.propose(std::min<std::size_t>(8, trials - out.size()), [] { return false; });
      empty = batch.empty() ? empty + 1 : 0;
      std::vector<search::candidate> taken;
      std::vector<double> seconds;
      for (const search::candidate& c : batch) {
        const std::optional<std::size_t> i = nearest(c, had);
        if (!i) break;
        had[*i] = true;
        taken.push_back(members_[*i]);
        seconds.push_back(times_[*i]->drawn_again(noise));
        so_far = std::min(so_far, times_[*i]->seconds());
        out.push_back(std::isfinite(so_far) ? best_ / so_far : 0);
      }
      s.learn(taken, seconds);
    }
    while (out.size() < trials) out.push_back(out.empty() ? 0 : out.back());
    return out;
  }

 private:
  std::optional<std::size_t> nearest(const search::candidate& c,
                                     const std::vector<bool>& had) const {
    const cost::mixed_point p = coordinates_.of(c.scheduled.trace());
    std::optional<std::size_t> out;
    double least = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (had[i]) continue;
      double away = 0;
      for (std::size_t k = 0; k < p.ordered.size(); ++k)
        away += (p.ordered[k] - points_[i].ordered[k]) * (p.ordered[k] - points_[i].ordered[k]);
      for (std::size_t k = 0; k < p.categories.size(); ++k)
        away += p.categories[k] != points_[i].categories[k] ? 1 : 0;
      if (out && away >= least) continue;
      out = i;
      least = away;
    }
    return out;
  }

  const search::search_task& task_;
  search::trace_coordinates coordinates_;
  std::vector<search::candidate> members_;
  std::vector<cost::mixed_point> points_;
  std::vector<const timed_trace*> times_;
  double best_ = std::numeric_limits<double>::infinity();
};

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
      std::printf("  p against evolution at 24: %.3f",
                  wilcoxon(r.best.at(24), evolution->best.at(24)));
    else
      evolution = r;
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace bench
