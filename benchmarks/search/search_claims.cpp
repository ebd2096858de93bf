#include "search_claims.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/search/strategies/annealing.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/replay_traces.hpp>
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

/// A strategy by name; the sieve is null but where a pairing has one.
using strategy_maker = std::unique_ptr<search::strategy> (*)(std::shared_ptr<cost::model> model,
                                                             std::shared_ptr<cost::model> sieve);

/// A model and a strategy, by the name that the paper has for them.
struct pairing {
  const char* name;
  const char* model;  // of contestants()
  strategy_maker make;
  const char* what;
  const char* sieve = nullptr;      // of contestants(); null: none
  std::uint64_t most_seeds = 1000;  // fewer where no claim of the paper is about it
};

std::unique_ptr<search::strategy> drawn(std::shared_ptr<cost::model>,
                                        std::shared_ptr<cost::model>) {
  return search::replay_traces();
}

std::unique_ptr<search::strategy> annealed(std::shared_ptr<cost::model> model,
                                           std::shared_ptr<cost::model>) {
  return search::annealing(std::move(model));
}

/// Chameleon: a policy, and of what it proposes the adaptive sampler's choice.
std::unique_ptr<search::strategy> by_policy(std::shared_ptr<cost::model> model,
                                            std::shared_ptr<cost::model>) {
  return search::adaptive(search::ppo(std::move(model)));
}

template <search::fantasy worth>
std::unique_ptr<search::strategy> by_belief(std::shared_ptr<cost::model> model,
                                            std::shared_ptr<cost::model>) {
  search::bayesian_options o;
  o.fantasy = worth;
  return search::bayesian(std::move(model), o);
}

std::unique_ptr<search::strategy> evolved(std::shared_ptr<cost::model> model,
                                          std::shared_ptr<cost::model> sieve) {
  search::evolution_options o;
  o.sieve = std::move(sieve);
  return search::evolutionary(std::move(model), o);
}

// clang-format off
constexpr pairing pairings[] = {
    {"random", "random", drawn, "draws from the space"},
    {"xgb", "trees, new", annealed, "AutoTVM: boosted trees that know nothing, annealing"},
    {"xgb-Xfer", "trees, others first", annealed, "the same, trees that learned other operators"},
    {"RL", "trees, new", by_policy, "Chameleon: a policy and adaptive sampling"},
    {"meta-BO", "network without template, FOMAML", by_belief<search::fantasy::believer>, "the paper's network as a plain graph"},
    {"meta-BO-T", "network, FOMAML (c)", by_belief<search::fantasy::believer>, "the paper's network with its template"},
    {"meta-BO-T qEI", "network, FOMAML (c)", by_belief<search::fantasy::joint>, "the same, batches chosen by their joint improvement; three seeds", nullptr, 3},
    {"meta-RL-T", "network, FOMAML (c)", by_policy, "that network under Chameleon's strategy"},
    {"default", "adapted trees, others first", evolved, "what ships: evolution, trees that learned other operators and a process over their leaves"},
    {"trees alone", "trees, others first", evolved, "the same without that process; three seeds", nullptr, 3},
    {"trees + perceptron", "trees and perceptron", evolved, "evolution, trees and TenSet's perceptron; three seeds", nullptr, 3},
    {"trees + sieve", "trees, others first", evolved, "trees alone, TLP's network looks at traces first; two seeds", "traces, others first", 2}};
// clang-format on

/// What a pairing did, by workload: means over seeds.
struct searched {
  std::vector<std::vector<double>> curves;  // [workloads, trials]: best of the table / best so far
  std::vector<double> to95, to99;  // [workloads], trials; of a run that never is there, one more
  double seconds = 0, trials = 0;  // of model and strategy

  std::vector<double> logs_after(std::size_t n) const {
    std::vector<double> out;
    for (const auto& c : curves) out.push_back(std::log(std::max(c[n - 1], 1e-3)));
    return out;
  }
  /// Trials until the mean curve has come to `goal`, one for each workload.
  std::vector<double> reached(const std::vector<double>& goal) const {
    std::vector<double> out;
    for (std::size_t w = 0; w < curves.size(); ++w) out.push_back(trials_to(curves[w], goal[w]));
    return out;
  }

  static double trials_to(const std::vector<double>& curve, double goal) {
    std::size_t n = 0;
    while (n < curve.size() && curve[n] < goal) ++n;
    return static_cast<double>(n + 1);
  }
};

/// f(0) to f(count - 1), on several threads.
template <class F>
void in_parallel(std::size_t count, int threads, const F& f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
}

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

/// Searches that were finished, in a file to which each is added.
class finished_runs {
 public:
  struct run {
    std::vector<double> curve;
    double seconds = 0;
  };

  explicit finished_runs(const std::string& path) {
    if (path.empty()) return;
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
      if (in.eof()) break;  // the last line has no end: it was ended there
      std::istringstream parts(line);
      std::string name;
      run r;
      if (!std::getline(parts, name, '\t') || !(parts >> r.seconds)) continue;
      for (double x; parts >> x;) r.curve.push_back(x);
      known_[name] = std::move(r);
    }
    file_.open(path, std::ios::app);
  }

  const run* find(const std::string& name, std::size_t trials) const {
    const auto at = known_.find(name);
    return at == known_.end() || at->second.curve.size() != trials ? nullptr : &at->second;
  }

  /// Any thread.
  void add(const std::string& name, const run& r) {
    const std::lock_guard lock(one_at_a_time_);
    if (!file_.is_open()) return;
    std::ostringstream line;
    line << name << '\t' << r.seconds;
    for (const double x : r.curve) line << ' ' << x;
    file_ << line.str() + "\n" << std::flush;
  }

 private:
  std::map<std::string, run> known_;
  std::ofstream file_;
  std::mutex one_at_a_time_;
};

/// Models that were trained once and are loaded for every run.
class trained_models {
 public:
  /// @param kept beginning of the names of their files; empty: none
  trained_models(std::span<const cost::sample> others, std::uint64_t count, std::string kept)
      : others_(others), count_(std::max<std::uint64_t>(count, 1)), kept_(std::move(kept)) {}

  /// Trains what searches with these seeds load.
  void train(const char* name, std::uint64_t seeds) {
    const contestant& who = contestant_of(name);
    for (std::uint64_t i = 0; i < std::min(seeds, count_) && who.make; ++i) {
      std::string& text = texts_[{name, i}];
      if (!text.empty()) continue;
      const std::string file =
          kept_ + ".model." + std::to_string(&who - contestants().data()) + "." + std::to_string(i);
      if (!kept_.empty()) {
        std::ifstream in(file);
        std::stringstream all;
        all << in.rdbuf();
        text = all.str();
        if (!text.empty()) continue;
      }
      const auto start = steady_clock::now();
      text = who.make(others_, 42 + i)->save();
      if (!kept_.empty()) {
        std::ofstream(file + ".new") << text;
        std::rename((file + ".new").c_str(), file.c_str());
      }
      std::printf("trained: %s, seed %d, %.0f s\n", name, static_cast<int>(42 + i),
                  duration<double>(steady_clock::now() - start).count());
      std::fflush(stdout);
    }
  }

  /// A model of its own for one search; any thread.
  std::shared_ptr<cost::model> of(const char* name, std::uint64_t seed) const {
    const contestant& who = contestant_of(name);
    std::shared_ptr<cost::model> out = who.blank(seed);
    if (who.make) out->load(texts_.at({name, (seed - 1) % count_}));
    return out;
  }

 private:
  std::span<const cost::sample> others_;
  std::uint64_t count_;
  std::string kept_;
  std::map<std::pair<std::string, std::uint64_t>, std::string> texts_;
};

/// @param trials of a run
/// @param place where the times come from, for the names of runs
searched search(const pairing& p, const table_list& tables, trained_models& models,
                finished_runs& before, const claim_options& o, std::size_t trials,
                const std::string& place) {
  searched out;
  models.train(p.model, o.seeds);
  if (p.sieve) models.train(p.sieve, o.seeds);
  const std::uint64_t seeds = std::min(o.seeds, p.most_seeds);
  std::vector<finished_runs::run> runs(tables.size() * seeds);
  in_parallel(runs.size(), o.threads, [&](std::size_t i) {
    const std::uint64_t seed = i % seeds + 1;
    const std::string name = std::string(p.name) + " " + place + " " + std::to_string(i / seeds) +
                             " " + std::to_string(seed);
    if (const finished_runs::run* known = before.find(name, trials)) {
      runs[i] = *known;
      return;
    }
    const auto s = p.make(models.of(p.model, seed), p.sieve ? models.of(p.sieve, seed) : nullptr);
    const auto start = steady_clock::now();
    runs[i].curve = tables[i / seeds]->curve(*s, trials, seed);
    runs[i].seconds = duration<double>(steady_clock::now() - start).count();
    before.add(name, runs[i]);
  });
  const double share = 1 / static_cast<double>(seeds);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i % seeds == 0) {
      out.curves.emplace_back(trials, 0.0);
      out.to95.push_back(0);
      out.to99.push_back(0);
    }
    for (std::size_t n = 0; n < trials; ++n) out.curves.back()[n] += share * runs[i].curve[n];
    out.to95.back() += share * searched::trials_to(runs[i].curve, 0.95);
    out.to99.back() += share * searched::trials_to(runs[i].curve, 0.99);
    out.seconds += runs[i].seconds;
    out.trials += static_cast<double>(trials);
  }
  std::printf("%-15s %.0f s of model and strategy\n", p.name, out.seconds);
  std::fflush(stdout);
  return out;
}

/// What learned here, on the tables of the other target.
std::map<std::string, searched> searched_elsewhere(trained_models& models, finished_runs& before,
                                                   const claim_options& o) {
  std::map<std::string, searched> out;
  if (o.other.empty()) return out;
  const target::cpu where = target::named(o.other_target);
  const std::vector<recorded_workload> there =
      recorded_workloads(o.other, selection::held_out, where);
  const table_list theirs = tables_of(there, o.other_trials + 8);
  for (const pairing& p : pairings)
    for (const char* name : {"xgb", "xgb-Xfer", "meta-BO-T"})
      if (std::string_view(p.name) == name && !theirs.empty())
        out.emplace(name, search(p, theirs, models, before, o, o.other_trials, o.other_target));
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
    std::printf("%-15s", p.name);
    for (const std::size_t n : {std::size_t{8}, std::size_t{32}, o.trials}) {
      const estimate e = bootstrapped(s.logs_after(n));
      std::printf("  best@%zu %.3f [%.3f, %.3f]", n, std::exp(e.mean), std::exp(e.low),
                  std::exp(e.high));
    }
    const estimate to95 = bootstrapped(s.to95), to99 = bootstrapped(s.to99);
    std::printf(
        "  to 95 %%: %.1f [%.1f, %.1f]  to 99 %%: %.1f [%.1f, %.1f]  %.1f ms a trial  (%s)\n",
        to95.mean, to95.low, to95.high, to99.mean, to99.low, to99.high,
        1e3 * s.seconds / std::max(s.trials, 1.0), p.what);
  }
}

/// "best,PAIRING,trial,mean,low,high" and "error,MODEL,samples,..." and "pairs,MODEL,samples,...".
void write_chart(const std::map<std::string, searched>& all,
                 const std::map<std::string, few_shots>& shots, const std::string& path) {
  std::ofstream to(path);
  to << "what,name,at,mean,low,high\n";
  for (const auto& [name, s] : all)
    for (std::size_t n = 1; n <= s.curves.front().size(); ++n) {
      const estimate e = bootstrapped(s.logs_after(n));
      to << "best," << name << ',' << n << ',' << std::exp(e.mean) << ',' << std::exp(e.low) << ','
         << std::exp(e.high) << '\n';
    }
  for (const auto& [name, s] : shots)
    for (const std::size_t n : few_shots::counts)
      for (const auto& [what, values] :
           {std::pair("error", &s.after(n).error_of_fast), std::pair("pairs", &s.after(n).pairs)}) {
        const estimate e = bootstrapped(*values);
        std::string model = name;  // no comma inside of a field
        std::replace(model.begin(), model.end(), ',', ';');
        to << what << ',' << model << ',' << n << ',' << e.mean << ',' << e.low << ',' << e.high
           << '\n';
      }
}

void print_shots(const char* name, const few_shots& s) {
  std::printf("%-26s", name);
  for (const std::size_t n : few_shots::counts)
    std::printf("  pairs after %zu: %s, told apart %.3f", n,
                bootstrapped(s.after(n).pairs).text().c_str(), bootstrapped(s.after(n).told).mean);
  std::printf("  MSE(D) %.4f\n", bootstrapped(s.after(most_shots).error_of_fast).mean);
  std::fflush(stdout);
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
    ranked_workload r = ranked(w, w.held_out() ? 4 * o.most : o.most);
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
  trained_models models(others, o.trained, o.kept);
  finished_runs before(o.kept.empty() ? "" : o.kept + ".runs");
  std::map<std::string, searched> found;
  for (const pairing& p : pairings)
    found.emplace(p.name, search(p, tables, models, before, o, o.trials, "here"));
  print_curves(found, o);
  const std::map<std::string, searched> moved = searched_elsewhere(models, before, o);

  std::map<std::string, few_shots> shots;
  for (const char* name :
       {"trees, new", "trees, others first", "adapted trees, others first",
        "perceptron, others first", "trees and perceptron", "adapted trees and perceptron",
        "traces, others first", "network, new (a)", "network, pretrained (b)",
        "network, FOMAML (c)", "network, MAML (d)", "network, Reptile (e)",
        "network without template"}) {
    models.train(name, o.seeds);
    std::vector<const ranked_workload*> large;
    for (const ranked_workload& w : held)
      if (w.samples.size() >= most_shots + 16) large.push_back(&w);
    std::vector<few_shots> each(large.size());
    in_parallel(large.size(), o.threads, [&](std::size_t w) {
      each[w].begin_workload();
      for (std::uint64_t seed = 1; seed <= o.seeds; ++seed)
        each[w].meet(*models.of(name, seed), *large[w], seed, 1 / static_cast<double>(o.seeds));
    });
    for (const few_shots& one : each) shots[name].append(one);
    print_shots(name, shots[name]);
  }
  if (!o.chart.empty()) write_chart(found, shots, o.chart);

  std::printf("\nthe paper's claims, on %zu held-out workloads:\n", tables.size());
  const auto after = [&](const char* name, std::size_t n) { return found.at(name).logs_after(n); };
  for (const std::size_t n : {std::size_t{32}, o.trials}) {
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
    gain("   qEI over the believer", "", "meta-BO-T qEI", "meta-BO-T");
    gain("   the sieve over none", "", "trees + sieve", "trees alone");
    gain("   what ships over trees alone", "", "default", "trees alone");
    gain("   what ships over trees and perceptron", "", "default", "trees + perceptron");
    gain("   what ships over xgb", "", "default", "xgb");
    gain("   what ships over meta-BO-T", "", "default", "meta-BO-T");
  }
  print_reach(found.at("meta-BO-T"), found.at("xgb"), o.trials);
  if (o.other.empty()) {
    std::printf("C8 another platform: not tried, no file of another target was named\n");
  } else {
    if (!moved.empty())
      for (const std::size_t n : {std::size_t{16}, o.other_trials}) {
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
