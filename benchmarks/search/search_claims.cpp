#include "search_claims.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <vector>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/target/cpu.hpp>

#include "few_shots.hpp"
#include "replay_table.hpp"
#include "search_contestants.hpp"
#include "statistics.hpp"

namespace bench {
namespace {

using namespace tilewright;
using std::chrono::duration;
using std::chrono::steady_clock;

/// A model and a strategy, by the name that the paper has for them.
struct pairing {
  const char* name;
  const char* model;  // of contestants()
  const char* strategy;
  const char* what;
};

// clang-format off
constexpr pairing pairings[] = {
    {"xgb", "trees, new", "annealing", "AutoTVM: boosted trees that know nothing, annealing"},
    {"xgb-Xfer", "trees, others first", "annealing", "the same, trees that learned other operators"},
    {"RL", "trees, new", "ppo", "Chameleon: a policy and adaptive sampling"},
    {"meta-BO", "network without template, FOMAML", "bayesian", "the paper's network as a plain graph"},
    {"meta-BO-T", "network, FOMAML (c)", "bayesian", "the paper's network with its template"},
    {"meta-RL-T", "network, FOMAML (c)", "ppo", "that network under Chameleon's strategy"},
    {"default", "trees, others first", "evolutionary", "what ships: evolution, trees that learned other operators"}};
// clang-format on

/// What a pairing did, by workload: means over seeds.
struct searched {
  std::vector<std::vector<double>> curves;  // [workloads, trials]: best of the table / best so far
  double seconds = 0, trials = 0;           // of model and strategy

  std::vector<double> logs_after(std::size_t n) const {
    std::vector<double> out;
    for (const auto& c : curves) out.push_back(std::log(std::max(c[n - 1], 1e-3)));
    return out;
  }
  /// Trials until the mean curve has come to `goal`, one for each workload.
  std::vector<double> reached(const std::vector<double>& goal) const {
    std::vector<double> out;
    for (std::size_t w = 0; w < curves.size(); ++w) {
      std::size_t n = 0;
      while (n < curves[w].size() && curves[w][n] < goal[w]) ++n;
      out.push_back(static_cast<double>(n + 1));
    }
    return out;
  }
};

using table_list = std::vector<std::unique_ptr<replay_table>>;

table_list tables_of(const std::vector<recorded_workload>& all, std::size_t least) {
  table_list out;
  for (const recorded_workload& w : all) {
    if (!w.held_out()) continue;
    auto t = std::make_unique<replay_table>(w);
    if (t->size() >= least) out.push_back(std::move(t));
  }
  return out;
}

/// Models that were trained once and are loaded for every run.
class trained_models {
 public:
  trained_models(std::span<const cost::sample> others, std::uint64_t count)
      : others_(others), count_(std::max<std::uint64_t>(count, 1)) {}

  std::shared_ptr<cost::model> of(const char* name, std::uint64_t seed) {
    const contestant& who = contestant_of(name);
    std::shared_ptr<cost::model> out = who.blank(seed);
    if (!who.make) return out;
    std::string& text = texts_[{name, seed % count_}];
    if (text.empty()) {
      const auto start = steady_clock::now();
      text = who.make(others_, 42 + seed % count_)->save();
      std::printf("trained: %s, seed %d, %.0f s\n", name, static_cast<int>(42 + seed % count_),
                  duration<double>(steady_clock::now() - start).count());
      std::fflush(stdout);
    }
    out->load(text);
    return out;
  }

 private:
  std::span<const cost::sample> others_;
  std::uint64_t count_;
  std::map<std::pair<std::string, std::uint64_t>, std::string> texts_;
};

searched search(const pairing& p, const table_list& tables, trained_models& models,
                const claim_options& o) {
  searched out;
  const std::vector<search::strategy_kind> kinds = search::strategy_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const search::strategy_kind& k) {
    return k.name == p.strategy;
  });
  for (const auto& t : tables) {
    std::vector<double> mean(o.trials, 0.0);
    for (std::uint64_t seed = 1; seed <= o.seeds; ++seed) {
      const auto s = kind->make(models.of(p.model, seed));
      const auto start = steady_clock::now();
      const std::vector<double> curve = t->curve(*s, o.trials, seed);
      out.seconds += duration<double>(steady_clock::now() - start).count();
      out.trials += static_cast<double>(curve.size());
      for (std::size_t n = 0; n < o.trials; ++n) mean[n] += curve[n] / static_cast<double>(o.seeds);
    }
    out.curves.push_back(std::move(mean));
  }
  return out;
}

/// "holds", where the interval of the gain lies above 0 and the test of signed ranks agrees; "does not
/// hold", where both say the opposite, or nothing can be seen.
const char* verdict(const estimate& gain, double p) {
  constexpr double chance = 0.05;
  if (p < chance && gain.low > 0) return "holds";
  if (p < chance && gain.high < 0) return "does not hold: the opposite is seen";
  return "does not hold: no difference beyond chance";
}

/// Gains of one list of logarithms over another, as a share.
void print_gain(const char* claim, const char* paper, const std::vector<double>& a,
                const std::vector<double>& b) {
  const estimate e = paired(a, b);
  const double p = wilcoxon(a, b);
  std::printf("%-52s paper %-12s here %+.1f %% [%+.1f, %+.1f], p %.3f: %s\n", claim, paper,
              100 * std::expm1(e.mean), 100 * std::expm1(e.low), 100 * std::expm1(e.high), p,
              verdict(e, p));
}

void print_curves(const std::map<std::string, searched>& all, const claim_options& o) {
  for (const pairing& p : pairings) {
    const searched& s = all.at(p.name);
    std::printf("%-10s", p.name);
    for (const std::size_t n : {std::size_t{8}, std::size_t{16}, o.trials}) {
      const estimate e = bootstrapped(s.logs_after(n));
      std::printf("  best@%zu %.3f [%.3f, %.3f]", n, std::exp(e.mean), std::exp(e.low),
                  std::exp(e.high));
    }
    const estimate to95 = bootstrapped(s.reached(std::vector<double>(s.curves.size(), 0.95))),
                   to99 = bootstrapped(s.reached(std::vector<double>(s.curves.size(), 0.99)));
    std::printf("  to 95 %%: %.1f  to 99 %%: %.1f  %.0f ms a trial  (%s)\n", to95.mean, to99.mean,
                1e3 * s.seconds / std::max(s.trials, 1.0), p.what);
  }
}

void write_chart(const std::map<std::string, searched>& all, const std::string& path) {
  std::ofstream to(path);
  to << "pairing,trial,best\n";
  for (const auto& [name, s] : all)
    for (std::size_t n = 1; n <= s.curves.front().size(); ++n)
      to << name << ',' << n << ',' << std::exp(bootstrapped(s.logs_after(n)).mean) << '\n';
}

/// Trials of xgb's budget after which meta-BO-T is as good as xgb at its end.
void print_reach(const searched& meta, const searched& xgb, std::size_t trials) {
  std::vector<double> goal, share;
  for (const auto& c : xgb.curves) goal.push_back(c.back());
  for (const double n : meta.reached(goal)) share.push_back(n / static_cast<double>(trials));
  const estimate e = bootstrapped(share);
  std::printf("%-52s paper %-12s here %.2f [%.2f, %.2f] of the trials: %s\n",
              "C7 meta-BO-T is where xgb ends, after", "0.20 to 0.65", e.mean, e.low, e.high,
              e.high < 0.65 ? "holds" : "does not hold");
}

}  // namespace

int run_claims(const std::string& file, const claim_options& o) {
  const auto start = steady_clock::now();
  const std::vector<recorded_workload> all = recorded_workloads(file);
  std::vector<ranked_workload> train, held;
  for (const recorded_workload& w : all) {
    ranked_workload r = ranked(w, o.most);
    if (r.samples.size() >= 12) (w.held_out() ? held : train).push_back(std::move(r));
  }
  std::vector<cost::sample> others;
  for (const ranked_workload& r : train)
    others.insert(others.end(), r.samples.begin(), r.samples.end());
  const table_list tables = tables_of(all, o.trials + 8);
  if (tables.empty() || others.empty()) {
    std::fprintf(stderr, "%s has no held-out workload of %zu programs, or none to train on\n",
                 file.c_str(), o.trials + 8);
    return 2;
  }
  std::printf("%zu programs of %zu workloads to train on; %zu tables; %d seeds, %zu trials\n",
              others.size(), train.size(), tables.size(), static_cast<int>(o.seeds), o.trials);
  trained_models models(others, o.trained);
  std::map<std::string, searched> found;
  for (const pairing& p : pairings) found.emplace(p.name, search(p, tables, models, o));
  print_curves(found, o);
  if (!o.chart.empty()) write_chart(found, o.chart);

  std::map<std::string, few_shots> shots;
  for (const char* name : {"trees, new", "trees, others first", "network, FOMAML (c)"})
    for (std::size_t w = 0; w < held.size(); ++w) {
      if (held[w].samples.size() < most_shots + 16) continue;
      few_shots& to = shots[name];
      to.begin_workload();
      for (std::uint64_t seed = 1; seed <= o.seeds; ++seed)
        to.meet(*models.of(name, seed), held[w], seed, 1 / static_cast<double>(o.seeds));
    }

  std::printf("\nthe paper's claims, on %zu held-out workloads:\n", tables.size());
  const auto after = [&](const char* name, std::size_t n) { return found.at(name).logs_after(n); };
  for (const std::size_t n : {std::size_t{16}, o.trials}) {
    const std::string mark = ", best@" + std::to_string(n);
    const auto gain = [&](const char* claim, const char* paper, const char* a, const char* b) {
      print_gain((claim + mark).c_str(), paper, after(a, n), after(b, n));
    };
    gain("C1 meta-BO-T over xgb", "+8 %", "meta-BO-T", "xgb");
    gain("C2 meta-BO-T over RL", "+13 %", "meta-BO-T", "RL");
    gain("C3 meta-BO, no template, over xgb", "+5 %", "meta-BO", "xgb");
    gain("C3 meta-BO, no template, over RL", "+10 %", "meta-BO", "RL");
    gain("C4 the template: meta-BO-T over meta-BO", "+4 %", "meta-BO-T", "meta-BO");
    gain("C5 meta-BO-T over xgb-Xfer", "+4 to 7 %", "meta-BO-T", "xgb-Xfer");
    gain("C6 the model under RL: meta-RL-T over RL", "+7 %", "meta-RL-T", "RL");
    gain("   what ships over xgb", "", "default", "xgb");
    gain("   what ships over meta-BO-T", "", "default", "meta-BO-T");
  }
  print_reach(found.at("meta-BO-T"), found.at("xgb"), o.trials);
  if (o.other.empty()) {
    std::printf("C8 another platform: not tried, no file of another target was named\n");
  } else {
    const target::cpu where = target::named(o.other_target);
    const std::vector<recorded_workload> there =
        recorded_workloads(o.other, selection::held_out, where);
    const table_list theirs = tables_of(there, o.trials + 8);
    std::map<std::string, searched> moved;
    for (const pairing& p : pairings)
      if (std::string_view(p.name) == "xgb" || std::string_view(p.name) == "xgb-Xfer" ||
          std::string_view(p.name) == "meta-BO-T")
        moved.emplace(p.name, search(p, theirs, models, o));
    if (!theirs.empty())
      for (const std::size_t n : {std::size_t{16}, o.trials}) {
        const std::string on = " on " + o.other_target + ", best@" + std::to_string(n);
        print_gain(("C8 meta-BO-T over xgb" + on).c_str(), "+14 %",
                   moved.at("meta-BO-T").logs_after(n), moved.at("xgb").logs_after(n));
        print_gain(("C8 meta-BO-T over xgb-Xfer" + on).c_str(), "+6 %",
                   moved.at("meta-BO-T").logs_after(n), moved.at("xgb-Xfer").logs_after(n));
      }
  }
  std::printf("C9 an AMD GPU: not tried, there is none here and no target for one\n");
  for (const std::size_t n : few_shots::counts) {
    const auto& meta = shots.at("network, FOMAML (c)").after(n);
    const auto& fresh = shots.at("trees, new").after(n);
    const auto& trees = shots.at("trees, others first").after(n);
    const auto line = [&](const char* what, const std::vector<double>& a,
                          const std::vector<double>& b) {
      const estimate e = paired(b, a);
      const double p = wilcoxon(a, b);
      std::printf(
          "C10 error after %2zu samples, %-24s meta %.4f, the other %.4f; less by %.4f [%.4f, "
          "%.4f], p %.3f: %s\n",
          n, what, bootstrapped(a).mean, bootstrapped(b).mean, e.mean, e.low, e.high, p,
          verdict(e, p));
    };
    line("MSE against xgb:", meta.error, fresh.error);
    line("MSE(D) against xgb:", meta.error_of_fast, fresh.error_of_fast);
    line("MSE(D) against xgb-Xfer:", meta.error_of_fast, trees.error_of_fast);
  }
  std::printf("%.0f s\n", duration<double>(steady_clock::now() - start).count());
  return 0;
}

}  // namespace bench
