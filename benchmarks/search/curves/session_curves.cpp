#include "session_curves.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <span>
#include <vector>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/database/transfer.hpp>
#include <tilewright/search/measurement/runner.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/cpu.hpp>

#include "../../problems/cliff_problems.hpp"
#include "../search_data.hpp"

namespace bench {

using namespace tilewright;

namespace {

void record_session(const std::string& name, const ir::function& f, const session_curve_options& o,
                    std::ofstream& to) {
  search::workload w;
  w.function = f;
  w.key = {ir::workload_key(f).hex(), target::host().isa_key(), "", 1};
  w.family = search::family_of(f);
  w.machine = target::host();
  w.exec = &backend::serial_executor();
  w.space = space::default_cpu();
  search::session_options session;
  session.seconds = o.seconds;
  session.seed = o.seed;
  int told = 0;
  session.events = [&](const search::progress& p) {
    if (p.trials == told) return;
    told = p.trials;
    to << name << ',' << o.seed << ',' << p.baseline << ',' << p.trials << ',' << p.elapsed << ','
       << p.last << ',' << p.best << '\n';
  };
  search::database db(":memory:");
  try {
    const search::tuning_result r = search::tune(w, session, db);
    std::printf("%-28s %5d trials, %.1f s: %.4g us, default %.4g us\n", name.c_str(), r.trials,
                r.seconds, 1e6 * r.best, 1e6 * r.baseline);
  } catch (const error& e) {
    std::printf("%-28s failed: %s\n", name.c_str(), e.what());
  }
  std::fflush(stdout);
  to.flush();
}

/// One session: times after 0, 1, 2, ... trials.
struct session_curve {
  std::vector<double> elapsed, best;  // s
};

std::map<std::string, session_curve> read_sessions(const std::string& path) {
  std::map<std::string, session_curve> out;
  std::ifstream in(path);
  std::string name, seed, baseline, trials, elapsed, last, best;
  while (std::getline(in, name, ',') && std::getline(in, seed, ',') &&
         std::getline(in, baseline, ',') && std::getline(in, trials, ',') &&
         std::getline(in, elapsed, ',') && std::getline(in, last, ',') && std::getline(in, best)) {
    session_curve& c = out[name + "," + seed];
    if (c.best.empty()) {
      c.elapsed.push_back(0);
      c.best.push_back(std::stod(baseline));
    }
    c.elapsed.push_back(std::stod(elapsed));
    c.best.push_back(std::stod(best));
  }
  return out;
}

/// Where sessions end by their expected gain, and what that costs.
void print_rule(const std::map<std::string, session_curve>& all, std::size_t least, double gain) {
  std::vector<double> seconds;
  double logs = 0, worst = 0, whole = 0, trials = 0;
  int close = 0;
  for (const auto& [name, c] : all) {
    std::size_t n = 0;
    while (n + 1 < c.best.size() &&
           search::expected_gain(std::span(c.best).first(n + 1), least) > gain)
      ++n;
    const double loss = std::log(c.best[n] / c.best.back());
    seconds.push_back(c.elapsed[n]);
    whole += c.elapsed.back();
    trials += static_cast<double>(n);
    logs += loss;
    worst = std::max(worst, loss);
    close += loss < 0.02;
  }
  const double count = static_cast<double>(all.size());
  double sum = 0;
  for (const double s : seconds) sum += s;
  std::sort(seconds.begin(), seconds.end());
  std::printf("%3zu, %.3f: %5.2f, %5.2f (%.2f) s; %4.0f; %5.2f %%, %5.1f %%; %d of %zu\n", least,
              gain, sum / count, seconds[seconds.size() / 2], whole / count, trials / count,
              100 * (std::exp(logs / count) - 1), 100 * (std::exp(worst) - 1), close, all.size());
}

}  // namespace

namespace {

/// Calls `use` with the name and the function of each workload and problem.
template <class Use>
void for_each_function(const session_curve_options& o, const Use& use) {
  for (const recorded_workload& w : recorded_workloads("", selection::curves))
    use(w.name(), w.task().function);
  for (int i = 0; i < o.problems; ++i) {
    const cliff_problem p = make_cliff_problem(o.seed, i);
    use(std::to_string(i) + "_" + p.name, ir::parse(p.script));
  }
}

/// What the model ranks first of draws from all sketches and the default schedule.
search::candidate ranked_first(const ir::function& f, const space::design_space& space,
                               const space::context& where, const search::candidate& first) {
  constexpr int draws = 64;
  support::random random(42);
  std::vector<search::candidate> all{first};
  const search::finisher finish = [&](schedule& s) { space.finish(s, where); };
  for (const schedule& s : space.sketches(f, where, 42))
    for (int i = 0; i < draws; ++i)
      if (auto c = search::replay(s.trace().without_decisions(), f, random.next(), nullptr,
                                  space.has_postprocs() ? finish : search::finisher()))
        all.push_back(std::move(*c));
  const std::vector<double> scores = search::estimated_scores(all);
  return all[static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) -
                                      scores.begin())];
}

/// The sketches of the space as they come, post-processed.
std::vector<search::candidate> finished_sketches(const ir::function& f,
                                                 const space::design_space& space,
                                                 const space::context& where) {
  std::vector<search::candidate> out;
  for (schedule s : space.sketches(f, where, 42)) {
    try {
      space.finish(s, where);
    } catch (const schedule_error&) {
      continue;
    }
    if (auto c = search::replay(s.trace(), f, 42)) out.push_back(std::move(*c));
  }
  return out;
}

double seconds_of(const search::candidate& c, search::runner& r) {
  const search::built b = search::build(c.scheduled.function(), target::host());
  const search::measurement m = b.code ? r.measure(*b.code, {}) : search::measurement();
  return m.ok() ? m.best() : INFINITY;
}

}  // namespace

int compare_first_answers(const std::string& curves, const session_curve_options& o) {
  const std::map<std::string, session_curve> known = read_sessions(curves);
  const space::design_space space = space::default_cpu();
  const space::context where{&target::host(), 1};
  double logs[3] = {0, 0, 0};
  int count = 0;
  for_each_function(o, [&](const std::string& name, const ir::function& f) {
    const auto at = known.find(name + "," + std::to_string(o.seed));
    if (at == known.end()) return;
    const schedule s = search::default_schedule(f, space, where, 42);
    const auto first = search::replay(s.trace(), f, 42);
    if (!first) return;
    search::runner r(f, {}, backend::serial_executor(), 1);
    const search::candidate ranked = ranked_first(f, space, where, *first);
    const std::vector<search::candidate> each = finished_sketches(f, space, where);
    double times[3] = {INFINITY, INFINITY, INFINITY};
    for (int turn = 0; turn < 3; ++turn) {
      times[0] = std::min(times[0], seconds_of(*first, r));
      times[1] = std::min(times[1], seconds_of(ranked, r));
      for (const search::candidate& c : each) times[2] = std::min(times[2], seconds_of(c, r));
    }
    const double best = std::min({at->second.best.back(), times[0], times[1], times[2]});
    std::printf("%-28s default %.3f, ranked first %.3f%s, best of %zu sketches %.3f\n",
                name.c_str(), best / times[0], best / times[1],
                ranked.identity == first->identity ? " (the default)" : "", each.size(),
                best / times[2]);
    std::fflush(stdout);
    for (int k = 0; k < 3; ++k) logs[k] += std::log(best / times[k]);
    ++count;
  });
  if (count == 0) return 1;
  std::printf("geometric mean of %d: default %.3f, ranked first %.3f, best sketch %.3f\n", count,
              std::exp(logs[0] / count), std::exp(logs[1] / count), std::exp(logs[2] / count));
  return 0;
}

int record_sessions(const std::string& out, const session_curve_options& o) {
  std::ofstream to(out, std::ios::app);
  for_each_function(
      o, [&](const std::string& name, const ir::function& f) { record_session(name, f, o, to); });
  return to ? 0 : 1;
}

int compare_ends(const std::string& curves) {
  const std::map<std::string, session_curve> all = read_sessions(curves);
  if (all.empty()) return 1;
  std::printf("default and best time after some trials, of the best time of the whole session:\n");
  for (const std::size_t n : {0u, 16u, 48u, 128u}) {
    double logs = 0, worst = 1;
    for (const auto& [name, c] : all) {
      const double share = c.best.back() / c.best[std::min(n, c.best.size() - 1)];
      logs += std::log(share);
      worst = std::min(worst, share);
    }
    std::printf("%4zu trials: geometric mean %.3f, worst %.3f\n", n,
                std::exp(logs / static_cast<double>(all.size())), worst);
  }
  std::printf(
      "\nleast trials, gain: seconds mean, median (whole); trials; loss, worst; within 2 %%\n");
  for (const std::size_t least : {16u, 32u, 48u, 64u, 96u})
    for (const double gain : {0.005, 0.01, 0.02}) print_rule(all, least, gain);
  return 0;
}

}  // namespace bench
