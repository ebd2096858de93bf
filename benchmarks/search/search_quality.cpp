// How good searches are, on recorded times.
//
//   search_quality curves FILE OUT.csv [TRIALS SEEDS PROCESSES SECONDS FIRST_SEED]
//                                         all of it: records, searches with three strategies
//                                         (1024 trials, 5 seeds, 2 processes, at most about 840 s),
//                                         and prints the summary
//   search_quality summary OUT.csv        the summary of curves
//   search_quality record FILE COUNT [WHICH TARGET]   measures COUNT random candidates of each
//                                         workload (all, or held_out), made for this machine or a
//                                         TARGET that runs here, as haswell, in a file of its own;
//                                         may be ended at any moment, and goes on when called again
//   search_quality again FILE COUNT       measures the COUNT fastest of each workload again
//   search_quality search FILE STRATEGY[:MODEL] TRIALS SEEDS OUT.csv [WHICH]   runs one strategy, on the
//                                         workloads of the curves or the held_out ones
//   search_quality rank FILE              how well models rank, XGBoost beside ours
//   search_quality models FILE [COUNT SEEDS NAME]   how models rank operators that they never saw, after 0
//                                         to 32 of their programs
//   search_quality claims FILE [SEEDS OTHER TARGET OUT.csv TRIALS]   what MetaTune claims, and whether
//                                         it holds here; OTHER has times of another TARGET
//   search_quality strategies FILE [TRIALS SEEDS]   how fast every strategy finds the best of the
//                                         recorded programs
//   search_quality spaces [TRIALS SEEDS WORKLOAD]   the default space beside the paper's list of rules
//   search_quality live PRIOR [SEEDS WORKLOADS]   16 trials with the shipped prior beside 64 with
//                                         another one, a file, on operators that nothing learned
//   search_quality fleet [MILLISECONDS FILE]   how the rate grows with 1 to 64 pretended ranks that give
//                                         recorded times
//   search_quality prior FILE HEADER [SEED]   trains the shipped prior
//   search_quality sessions OUT.csv [SECONDS PROBLEMS SEED]   runs whole sessions
//   search_quality first OUT.csv [PROBLEMS SEED]   what runs before anything is measured
//   search_quality ends OUT.csv           when sessions might have ended earlier, and what that costs
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tilewright/cost/model.hpp>
#include <tilewright/cost/prior.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/database/record.hpp>
#include <tilewright/target/cpu.hpp>

#include "../peers/xgboost.hpp"
#include "curves/search_curves.hpp"
#include "curves/session_curves.hpp"
#include "search_claims.hpp"
#include "search_contestants.hpp"
#include "search_data.hpp"
#include "search_fleet.hpp"
#include "search_live.hpp"
#include "search_models.hpp"
#include "search_spaces.hpp"
#include "search_strategies.hpp"

using namespace tilewright;
using namespace bench;

namespace {

/// All workloads grow together, so that whatever was recorded when it is ended can be used.
int record(const std::string& file, std::size_t count, const std::string& which,
           const std::string& target) {
  const target::cpu where = target.empty() ? target::host() : target::named(target);
  if (!target::runs_on(where, target::host())) {
    std::fprintf(stderr, "code for %s does not run here\n", target.c_str());
    return 2;
  }
  std::vector<recorded_workload> all =
      recorded_workloads(file, which == "held_out" ? selection::held_out : selection::all, where);
  std::ofstream to = appended(file);
  constexpr std::size_t step = 20;
  for (std::size_t goal = std::min(step, count);; goal = std::min(goal + step, count)) {
    for (recorded_workload& w : all) {
      record_drawn(w, goal, to);
      std::printf("%-16s %zu sketches, %zu of %zu recorded\n", w.name().c_str(),
                  w.task().sketches.size(), w.all().size(), count);
      std::fflush(stdout);
    }
    if (goal == count) return 0;
  }
}

int measure_again(const std::string& file, std::size_t count) {
  std::vector<recorded_workload> all = recorded_workloads(file);
  for (recorded_workload& w : all) w.measure_again(count);
  const std::string fresh = file + ".new";
  {
    std::ofstream to(fresh);
    for (const recorded_workload& w : all) w.write(to);
    if (!to.flush()) return 1;
  }
  return std::rename(fresh.c_str(), file.c_str()) == 0 ? 0 : 1;
}

int search_all(const std::string& file, const std::string& name, std::size_t trials,
               std::uint64_t seeds, const std::string& out_file, bool held_out) {
  std::vector<recorded_workload> all =
      recorded_workloads(file, held_out ? selection::held_out : selection::curves);
  std::ofstream to = appended(file), out(out_file, std::ios::app);
  for (recorded_workload& w : all)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const std::vector<double> curve = best_times(w, name, trials, seed, to);
      write_curve(out, w.name(), name, seed, trials, curve);
      std::printf("%-10s %-20s seed %d: %.4g us after %zu\n", w.name().c_str(), name.c_str(),
                  static_cast<int>(seed), curve.empty() ? 0.0 : curve.back() * 1e6, curve.size());
      std::fflush(stdout);
    }
  return 0;
}

/// Features and labels of all drawn candidates of a workload.
struct rankable {
  std::string name;
  std::vector<ir::function> programs;
  std::vector<support::hash128> keys;
  std::vector<double> seconds, speed;
};

rankable load(const recorded_workload& w, std::size_t most) {
  rankable out;
  out.name = w.name();
  for (const timed_trace& t : w.all()) {
    if (!t.drawn || t.times.empty() || out.programs.size() >= most) continue;
    const auto c = search::replay(trace::parse(t.trace), w.task().function, 1);
    if (!c) continue;
    out.programs.push_back(c->scheduled.function());
    out.keys.push_back(c->identity);
    out.seconds.push_back(t.seconds());
    out.speed.push_back(1 / t.seconds());
  }
  return out;
}

struct quality {
  double pairs = 0, top1 = 0, top5 = 0;
  void add(const std::vector<double>& scores, const std::vector<double>& speed, double share) {
    pairs += share * cost::pairwise_accuracy(scores, speed);
    top1 += share * cost::top_score(scores, speed, 1);
    top5 += share * cost::top_score(scores, speed, 5);
  }
};

/// Samples [from, to) of a workload into `d`, with labels of their own group; `shuffle` mixes
/// labels.
void append(const rankable& r, std::size_t from, std::size_t to, std::uint32_t group,
            cost::dataset& d, support::random* shuffle) {
  const double best = *std::max_element(r.speed.begin() + static_cast<std::ptrdiff_t>(from),
                                        r.speed.begin() + static_cast<std::ptrdiff_t>(to));
  std::vector<double> labels;
  for (std::size_t i = from; i < to; ++i) labels.push_back(r.speed[i] / best);
  if (shuffle)
    for (std::size_t i = labels.size(); i-- > 1;)
      std::swap(labels[i], labels[shuffle->below(i + 1)]);
  for (std::size_t i = from; i < to; ++i) {
    const auto rows = cost::store_features(r.programs[i]);
    const double label = labels[i - from];
    d.add(rows.front().data(), rows.size(), static_cast<float>(label),
          static_cast<float>(0.1 + label), group);
  }
}

std::vector<double> doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

/// Trains each kind of model on `train` and ranks `test`.
void compare(const cost::dataset& train, const cost::dataset& test,
             const std::vector<double>& speed, double share, quality (&to)[3]) {
  for (int kind = 0; kind < 2; ++kind) {
    cost::gbt_options o;
    o.goal = kind == 0 ? cost::objective::squared : cost::objective::pairwise;
    cost::gbt model;
    model.fit(train, o);
    to[kind].add(doubles(model.scores(test)), speed, share);
  }
  if (have_xgboost()) to[2].add(xgboost_scores(train, test), speed, share);
}

void print(const char* what, const quality (&q)[3]) {
  const char* names[] = {"trees, squared", "trees, pairwise", "XGBoost"};
  for (int k = 0; k < 3; ++k) {
    if (k == 2 && !have_xgboost())
      std::printf("%-28s %-16s missing (libxgboost-dev)\n", what, names[k]);
    else
      std::printf("%-28s %-16s pairs %.3f  top-1 %.3f  top-5 %.3f\n", what, names[k], q[k].pairs,
                  q[k].top1, q[k].top5);
  }
}

int rank(const std::string& file) {
  std::vector<rankable> all;
  for (const recorded_workload& w : recorded_workloads(file)) {
    rankable r = load(w, 300);
    if (r.programs.size() >= 20) all.push_back(std::move(r));
  }
  quality within[3], across[3], shuffled[3];
  support::random mixer(3);
  const double share = 1 / static_cast<double>(all.size());
  for (std::size_t held = 0; held < all.size(); ++held) {
    const rankable& r = all[held];
    const std::size_t n = r.programs.size(), half = n / 2;
    const std::vector<double> rest(r.speed.begin() + static_cast<std::ptrdiff_t>(half),
                                   r.speed.end());
    cost::dataset train, test, mixed, others, whole;
    for (cost::dataset* d : {&train, &test, &mixed, &others, &whole})
      d->columns = cost::feature_count;
    append(r, 0, half, 0, train, nullptr);
    append(r, 0, half, 0, mixed, &mixer);
    append(r, half, n, 0, test, nullptr);
    append(r, 0, n, 0, whole, nullptr);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i != held)
        append(all[i], 0, all[i].programs.size(), static_cast<std::uint32_t>(i), others, nullptr);
    quality one[3];
    compare(train, test, rest, 1, one);
    print((r.name + ", own records").c_str(), one);
    compare(train, test, rest, share, within);
    compare(others, whole, r.speed, share, across);
    compare(mixed, test, rest, share, shuffled);
  }
  std::printf("\n%zu workloads\n", all.size());
  print("mean, own records", within);
  print("mean, workload held out", across);
  print("mean, shuffled labels", shuffled);
  return 0;
}

/// The shipped prior as lines of a header, with what it was trained on.
int prior(const std::string& file, const std::string& out_file, std::uint64_t seed) {
  std::vector<ranked_workload> all;
  std::vector<cost::sample> samples;
  for (const recorded_workload& w : recorded_workloads(file, selection::training)) {
    ranked_workload r = ranked(w, 600);
    if (r.samples.size() >= 2) all.push_back(std::move(r));
  }
  for (const ranked_workload& r : all)
    samples.insert(samples.end(), r.samples.begin(), r.samples.end());
  if (samples.empty()) {
    std::fprintf(stderr, "%s has no programs of training workloads\n", file.c_str());
    return 2;
  }
  const cost::gbt model = cost::prior_of(samples, seed);
  const std::string about = std::to_string(samples.size()) + " programs of " +
                            std::to_string(all.size()) + " workloads, seed " +
                            std::to_string(seed) + ", " + search::date_now() + ", " +
                            target::host().model;
  std::ofstream to(out_file);
  to << "// Generated by tools/train_prior.sh; do not edit.\n// " << about
     << "\n#pragma once\n\nnamespace tilewright::cost::detail {\n\n"
        "// clang-format off\ninline constexpr const char* prior_lines[] = {\n";
  const std::string text = model.save();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    to << '"' << text.substr(at, end - at) << "\",\n";
    at = end + 1;
  }
  to << "};\n// clang-format on\n\n}  // namespace tilewright::cost::detail\n";
  std::printf("%s: %zu trees\n", about.c_str(), model.trees());
  return to.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::max(std::atoi(argv[i]), 1) : otherwise;
  };
  if (command == "curves" && argc >= 4 && argc <= 9) {
    curve_options o;
    o.trials = static_cast<std::size_t>(number(4, 1024));
    o.drawn = o.trials + o.trials / 2;
    o.seeds = static_cast<std::uint64_t>(number(5, 5));
    o.processes = number(6, 2);
    o.seconds = number(7, 840);
    o.first_seed = static_cast<std::uint64_t>(number(8, 1));
    return run_curves(argv[2], argv[3], o);
  }
  if (command == "summary" && argc == 3) return summarize(argv[2]);
  if (command == "record" && argc >= 4 && argc <= 6)
    return record(argv[2], static_cast<std::size_t>(std::atoi(argv[3])), argc > 4 ? argv[4] : "all",
                  argc > 5 ? argv[5] : "");
  if (command == "again" && argc == 4)
    return measure_again(argv[2], static_cast<std::size_t>(number(3, 1)));
  if (command == "search" && (argc == 7 || argc == 8))
    return search_all(argv[2], argv[3], static_cast<std::size_t>(std::atoi(argv[4])),
                      static_cast<std::uint64_t>(std::atoi(argv[5])), argv[6],
                      argc > 7 && std::string_view(argv[7]) == "held_out");
  if (command == "rank" && argc == 3) return rank(argv[2]);
  if (command == "models" && argc >= 3 && argc <= 6)
    return run_models(argv[2], static_cast<std::size_t>(number(3, 200)),
                      static_cast<std::uint64_t>(number(4, 10)), argc > 5 ? argv[5] : "");
  if (command == "claims" && argc >= 3 && argc <= 8) {
    claim_options o;
    o.seeds = static_cast<std::uint64_t>(number(3, 10));
    o.other = argc > 4 ? argv[4] : "";
    o.other_target = argc > 5 ? argv[5] : o.other_target;
    o.chart = argc > 6 ? argv[6] : "";
    o.kept = o.chart;
    o.trials = static_cast<std::size_t>(number(7, 128));
    return run_claims(argv[2], o);
  }
  if (command == "strategies" && argc >= 3 && argc <= 5) {
    strategy_comparison o;
    o.trials = static_cast<std::size_t>(number(3, 48));
    o.seeds = static_cast<std::uint64_t>(number(4, 10));
    return run_strategies(argv[2], o);
  }
  if (command == "spaces" && argc <= 5)
    return compare_spaces(
        {number(2, 128), static_cast<std::uint64_t>(number(3, 5)), argc > 4 ? argv[4] : ""});
  if (command == "fleet" && argc <= 4)
    return simulate_fleet(number(2, 200), argc > 3 ? argv[3] : "");
  if (command == "live" && argc >= 3 && argc <= 5) {
    live_comparison o;
    o.before = argv[2];
    o.seeds = static_cast<std::uint64_t>(number(3, 5));
    o.workloads = static_cast<std::size_t>(number(4, 8));
    return compare_live(o);
  }
  if (command == "prior" && (argc == 4 || argc == 5))
    return prior(argv[2], argv[3], static_cast<std::uint64_t>(number(4, 43)));
  if (command == "sessions" && argc >= 3 && argc <= 6) {
    session_curve_options o;
    o.seconds = number(3, 10);
    o.problems = argc > 4 ? std::max(std::atoi(argv[4]), 0) : o.problems;
    o.seed = static_cast<std::uint64_t>(number(5, 1));
    return record_sessions(argv[2], o);
  }
  if (command == "first" && argc >= 3 && argc <= 5) {
    session_curve_options o;
    o.problems = argc > 3 ? std::max(std::atoi(argv[3]), 0) : o.problems;
    o.seed = static_cast<std::uint64_t>(number(4, 1));
    return compare_first_answers(argv[2], o);
  }
  if (command == "ends" && argc == 3) return compare_ends(argv[2]);
  std::fprintf(
      stderr,
      "search_quality curves FILE OUT.csv [TRIALS SEEDS PROCESSES SECONDS FIRST_SEED] | summary "
      "OUT.csv | "
      "record FILE COUNT [WHICH TARGET] | again FILE COUNT | search FILE STRATEGY[:MODEL] TRIALS "
      "SEEDS OUT.csv [WHICH] | rank "
      "FILE | models FILE [COUNT SEEDS NAME] | claims FILE [SEEDS OTHER TARGET OUT.csv TRIALS] | "
      "strategies FILE [TRIALS SEEDS] | spaces [TRIALS "
      "SEEDS "
      "WORKLOAD] | live PRIOR [SEEDS WORKLOADS] | fleet [MILLISECONDS FILE] | prior FILE HEADER "
      "[SEED] "
      "| "
      "sessions "
      "OUT.csv [SECONDS PROBLEMS SEED] | first OUT.csv [PROBLEMS SEED] | ends OUT.csv\n");
  return 2;
}
