#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/search/joint/joint_candidates.hpp>
#include <tilewright/impl/search/joint/joint_place.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/search/check/proof.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/joint/joint_session.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float_environment.hpp>

namespace tilewright::search {
namespace detail {

inline void check_joint_tasks(const std::vector<joint_task>& tasks, const measuring_options& m) {
  if (tasks.empty()) throw argument_error("tune_jointly: there is nothing to tune (requirement 1)");
  for (const joint_task& t : tasks) {
    if (!(t.weight > 0) || std::isinf(t.weight))
      throw argument_error("tune_jointly: weights have to be above 0, and finite (requirement 1)");
    const workload &first = *tasks.front().what, &other = *t.what;
    if (other.family != first.family || other.key.isa != first.key.isa || other.machine.gpu)
      throw argument_error(
          "tune_jointly takes one kernel at several extents, on one CPU: " + first.function.name +
          " and " + other.function.name +
          " differ in their name, in types or ranks of parameters, in their blocks or "
          "in the machine; tune_together takes several kernels (requirement 2)");
  }
  if (m.run_in != isolation::none || m.build || m.runner || m.call)
    throw argument_error(
        "tune_jointly times candidates in this process: leave out measuring.run_in, build, runner "
        "and call "
        "(requirement 3)");
}

/// The workload in the middle of the work, by weight: its loops are those that tiles are drawn for.
inline std::size_t leader_of(const std::vector<joint_task>& tasks) {
  std::vector<std::size_t> order(tasks.size());
  double all = 0, before = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    order[i] = i;
    all += tasks[i].weight;
  }
  const auto work = [&](std::size_t i) { return work_of(tasks[i].what->function); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(work(a), a) < std::pair(work(b), b);
  });
  for (const std::size_t i : order)
    if ((before += tasks[i].weight) >= all / 2) return i;
  return order.back();
}

/// A schedule in the last round at one workload.
struct joint_contestant {
  std::string trace;
  built code;
  std::vector<double> seconds = {};
  double median() const {
    measurement m;
    m.seconds = seconds;
    return m.median();
  }
};

class joint_session {
 public:
  joint_session(const std::vector<joint_task>& tasks, const joint_options& o, database& db)
      : options_(o), db_(db), leader_(leader_of(tasks)) {
    for (const joint_task& t : tasks)
      places_.push_back(std::make_unique<joint_place>(t, o.session.seed));
  }

  joint_result run() {
    joint_candidates candidates(places_, leader_);
    session_options s = options_.session;
    s.measuring.build = [&](const ir::function& f, const target::machine&) {
      return candidates.make(f);
    };
    s.measuring.runner = [&](const workload&) {
      return [&](const built& b, const measure_options& o) { return candidates.measure(b, o); };
    };
    const auto asked = s.callbacks.before_build;
    s.callbacks.before_build = [&, asked](const candidate& c) {
      candidates.announce(c);
      return asked ? asked(c) : verdict::go_on;
    };
    database private_to_session(":memory:");  // its times are of no single workload
    const tuning_result found = tune(places_[leader_]->what, s, private_to_session);
    out_.trials = found.trials;
    out_.seconds = found.seconds;
    out_.end = found.end;
    out_.remarks = found.remarks;
    if (found.end == session_end::cancelled && found.best == 0) return std::move(out_);
    const auto chosen = choose(candidates.timed(), found);
    std::vector<double> best, baseline;
    for (const auto& place : places_) {
      out_.at.push_back(finish(*place, chosen));
      best.push_back(out_.at.back().best);
      baseline.push_back(out_.at.back().baseline);
    }
    out_.best = joint_mean(places_, best);
    out_.baseline = joint_mean(places_, baseline);
    return std::move(out_);
  }

 private:
  using candidate_list = std::vector<std::shared_ptr<joint_candidate>>;

  /// The winner of the session, and after it whatever makes the mean fall most where each workload runs the
  /// fastest of the chosen ones.
  candidate_list choose(const candidate_list& timed, const tuning_result& found) const {
    candidate_list out;
    std::vector<double> times(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i)
      times[i] = std::numeric_limits<double>::infinity();
    const auto with = [&](const joint_candidate& c) {
      std::vector<double> both = times;
      for (std::size_t i = 0; i < both.size(); ++i) both[i] = std::min(both[i], c.seconds[i]);
      return both;
    };
    for (const auto& c : timed)
      if (found.improved && out.empty() && c->what->simplified().print() == found.trace)
        out.push_back(c);
    if (!out.empty()) times = with(*out.front());
    while (out.size() < static_cast<std::size_t>(std::max(options_.traces, 1))) {
      std::shared_ptr<joint_candidate> next;
      double least = joint_mean(places_, times);
      for (const auto& c : timed)
        if (const double mean = joint_mean(places_, with(*c)); mean < least) {
          least = mean;
          next = c;
        }
      if (!next) break;
      times = with(*next);
      out.push_back(next);
    }
    return out;
  }

  /// What runs at one workload from now on.
  joint_choice finish(joint_place& place, const candidate_list& chosen) {
    std::vector<joint_contestant> all{{place.standard_trace, place.standard}};
    if (auto before = stored(place)) all.push_back(std::move(*before));
    for (const auto& c : chosen) add(place, *c, all);
    time_in_turn(place, all);
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return all[a].median() < all[b].median(); });
    joint_choice out;
    out.baseline = all[0].median();
    std::size_t winner = 0;
    for (const std::size_t i : order) {
      if (i == 0 || all[i].median() * (1 + noise) >= out.baseline) break;
      out.checked = checked(place, all[i].trace);
      if (out.checked.empty()) continue;
      winner = i;
      break;
    }
    if (winner == 0) out.checked = checked(place, all[0].trace);
    out.trace = all[winner].trace;
    out.improved = winner != 0;
    out.best = all[winner].median();
    store(place, all[winner], out.checked);
    return out;
  }

  std::optional<joint_contestant> stored(joint_place& place) {
    const std::optional<record> known = db_.chosen(place.what.key);
    if (!known) return std::nullopt;
    try {
      const auto c = replay(by_name(trace::parse(known->trace), place.what.function),
                            place.what.function, options_.session.seed);
      if (!c) return std::nullopt;
      joint_contestant out{c->scheduled.trace().print(),
                           build(c->scheduled.function(), place.what.machine)};
      if (!out.code || !place.difference(out.code).empty()) return std::nullopt;
      return out;
    } catch (const argument_error&) {  // of a version that had other primitives
      return std::nullopt;
    }
  }

  void add(joint_place& place, const joint_candidate& c, std::vector<joint_contestant>& to) {
    std::size_t at = 0;
    while (places_[at].get() != &place) ++at;
    const std::optional<candidate> here = place.adapted(*c.what, nullptr);
    if (!here) return;
    if (const std::string wrong = place.difference(c.code[at]); !wrong.empty()) {
      out_.remarks.push_back("a candidate was dropped at " + write_numbers(place.what.extents) +
                             ": " + wrong);
      return;
    }
    to.push_back({here->scheduled.trace().simplified().print(), c.code[at]});
  }

  static void time_in_turn(joint_place& place, std::vector<joint_contestant>& all) {
    constexpr int turns = 9;
    measure_options visit;
    visit.repeats = visit.most_repeats = 2;
    visit.budget = 0.004;
    for (int turn = 0; turn < turns; ++turn)
      for (joint_contestant& c : all)
        if (const measurement m = place.measure(c.code, visit); m.ok())
          c.seconds.push_back(m.best());
    std::erase_if(
        all, [&](const joint_contestant& c) { return c.seconds.empty() && &c != &all.front(); });
    if (all.front().seconds.empty())
      throw build_error("the default schedule of " + place.what.function.name + " does not run");
  }

  /// What record::checked says of the trace; empty where it computes something else, which becomes a remark.
  std::string checked(const joint_place& place, const std::string& text) {
    constexpr double share = 0.05, most = 5;  // s, of the session
    const double seconds =
        std::min(share * options_.session.seconds, most) / static_cast<double>(places_.size());
    std::string at;
    const exact_comparison c = prove(place.what, text, options_.session.seed, seconds, &at);
    switch (c.is) {
      case exact_comparison::result::equal:
        return "proved at " + at + ", in arithmetic modulo 2^61 - 1";
      case exact_comparison::result::unknown: return "tested: " + c.text;
      case exact_comparison::result::different: break;
    }
    out_.remarks.push_back("a candidate was dropped: at " + at + ", " + c.text);
    return {};
  }

  void store(const joint_place& place, const joint_contestant& won, const std::string& checked) {
    const workload& w = place.what;
    record r{w.key,       w.family,           w.extents, trace_by_position(won.trace, w.function),
             won.seconds, made_on(w.machine), true};
    r.checked = checked;
    db_.add_workload(w.key.workload, ir::print(w.function));
    db_.add_code(w.key, r.trace, r.from, backend::serialize(won.code.artifact));
    db_.add(r);
  }

  static constexpr double noise =
      0.02;  // what two timings of the same code differ by on a quiet machine

  const joint_options& options_;
  database& db_;
  std::size_t leader_;
  std::vector<std::unique_ptr<joint_place>> places_;
  joint_result out_;
};

}  // namespace detail

TILEWRIGHT_INLINE joint_result tune_jointly(const std::vector<joint_task>& tasks,
                                            const joint_options& options, database& db) {
  const support::default_float_environment ours;
  detail::check_joint_tasks(tasks, options.session.measuring);
  return detail::joint_session(tasks, options, db).run();
}

}  // namespace tilewright::search
