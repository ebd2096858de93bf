// The last round of a session: finalists and default are timed in turn, so that drift of the
// machine meets all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/impl/search/session/time_budget.hpp>
#include <tilewright/search/measurement/measurement.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::search::detail {

/// A schedule in the last round, and how fast it has been so far.
struct contestant {
  const built* code;
  double seconds;
  std::string trace;
  const argument_form* form = nullptr;  // of the arguments that it takes; null: the workload's
};

/// The time of a call with what is charged for its form.
inline void charge(measurement& m, const argument_form* form) {
  if (!form) return;
  for (double& s : m.seconds) s = s / (1 - form->least_gain) + form->charge;
}

/// Whether contestants read arguments of their own, which the others drive out of the caches.
inline bool have_own_arguments(const std::vector<contestant>& all) {
  return support::any(all, [](const contestant& c) { return c.form != nullptr; });
}

/// What one visit measures: the better of two calls after one that warms up, or one call where
/// calls take so long that nothing is left to warm. Arrays that nobody else reads take more than one call until a
/// cache of victims holds them.
inline measure_options visit_options(double seconds, bool own_arguments = false) {
  constexpr double slow = 0.01;  // s
  measure_options out;
  out.repeats = out.most_repeats = seconds < slow ? (own_arguments ? 5 : 2) : 0;
  out.budget = 0.004;
  return out;
}

/// Seconds that one visit takes.
inline double visit_seconds(double seconds, bool own_arguments = false) {
  constexpr double least = 2e-4;  // calls are repeated until the clock can tell
  const measure_options o = visit_options(seconds, own_arguments);
  return std::max(least, std::min((1 + o.most_repeats) * seconds, 3 * seconds + o.budget));
}

/// Seconds that the last round takes for so many turns.
inline double wanted_for_finals(double best, double baseline, std::size_t finalists, int turns) {
  return visit_seconds(baseline) + turns * static_cast<double>(finalists) * visit_seconds(best);
}

/// Times of all, the first of which is the default; none where there is no time for the default and
/// the fastest. The time that is left decides how often each has its turn. A default that is slower than
/// the fastest by a factor that no drift explains has no more than one, and so has what is as slow in its turn, too.
/// @param visit the measurement of one visit of the contestant with a number
template <class Visit, class Cancelled>
std::vector<measurement> visited_in_turn(const std::vector<contestant>& all, int most_turns,
                                         const time_budget& budget, const Visit& visit,
                                         const Cancelled& cancelled) {
  constexpr double least = 0.05;  // s, however late it is
  constexpr double beyond_drift = 3;
  std::vector<measurement> times(all.size());
  if (all.size() < 2) return times;
  const bool own = have_own_arguments(all);
  std::size_t fastest = 1;
  for (std::size_t i = 2; i < all.size(); ++i)
    if (all[i].seconds < all[fastest].seconds) fastest = i;
  const double until = budget.elapsed() + std::max(budget.left(), least);
  const auto fits = [&](double seconds) { return budget.elapsed() + seconds <= until; };
  if (!fits(visit_seconds(all[0].seconds, own) + visit_seconds(all[fastest].seconds, own)))
    return times;
  const auto known = [&](std::size_t i) {  // s, the least so far
    return times[i].seconds.empty() ? all[i].seconds : std::min(all[i].seconds, times[i].best());
  };
  for (int turn = 0; turn < most_turns; ++turn) {
    for (std::size_t i = 0; i < all.size() && !cancelled(); ++i) {
      const double seconds = i == 0 ? all[0].seconds : known(i);
      const double least_seconds = i == 0 ? all[fastest].seconds : known(fastest);
      if (turn > 0 && seconds > beyond_drift * least_seconds) continue;
      const bool needed = turn == 0 && (i == 0 || i == fastest);
      if (!needed && !fits(visit_seconds(all[i].seconds, own))) continue;
      measurement m = visit(i);
      charge(m, all[i].form);
      if (m.ok()) times[i].seconds.push_back(m.best());
    }
  }
  return times;
}

/// The same for code that a bench measures.
template <class Cancelled>
std::vector<measurement> timed_in_turn(test_bench& bench, const std::vector<contestant>& all,
                                       const time_budget& budget, const Cancelled& cancelled) {
  constexpr int most_turns = 15;
  const bool own = have_own_arguments(all);
  const auto visit = [&](std::size_t i) {
    return bench.measure(*all[i].code, visit_options(all[i].seconds, own), all[i].form);
  };
  return visited_in_turn(all, most_turns, budget, visit, cancelled);
}

/// Half of the distance between the quartiles, of the times of one contestant or of the ratios of both in each turn,
/// whichever is less: what slows a turn down slows down both.
inline double noise_of(const measurement& one, const measurement& other) {
  // a share of 2 % is what two timings of the same code differ by on a quiet machine
  constexpr double least = 0.02, most = 0.1;
  double spread = one.spread();
  if (one.seconds.size() == other.seconds.size()) {
    measurement ratios;
    for (std::size_t turn = 0; turn < one.seconds.size(); ++turn)
      ratios.seconds.push_back(one.seconds[turn] / other.seconds[turn]);
    spread = std::min(spread, ratios.spread());
  }
  return std::clamp(spread / 2, least, most);
}

struct final_result {
  std::size_t winner = 0;  // 0: the default
  double noise = 0;        // times that differ by a smaller share count as equal
  bool improved = false;   // by more than the noise
};

/// Who wins: the fastest, which has to be faster by more than the noise than all that take the workload's own arguments
/// where it takes others. The round counts where it has timed the default and one more; else all count with the times
/// that they came with, and with as much noise as is ever assumed.
/// @param times [all], those of the round; empty ones where there was no time left, the session was
/// cancelled, or a call failed
inline final_result winner_of(const std::vector<contestant>& all,
                              const std::vector<measurement>& times) {
  constexpr double unknown_noise = 0.1;
  const auto timed = [&](std::size_t i) { return !times[i].seconds.empty(); };
  bool in_turn = false;
  for (std::size_t i = 1; i < all.size(); ++i) in_turn |= timed(0) && timed(i);
  const auto seconds = [&](std::size_t i) { return in_turn ? times[i].median() : all[i].seconds; };
  final_result out;
  const auto noise = [&](std::size_t i, std::size_t other) {
    return in_turn ? noise_of(times[i], times[other]) : unknown_noise;
  };
  std::size_t without_form = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (in_turn && !timed(i)) continue;
    if (seconds(i) < seconds(out.winner)) out.winner = i;
    if (!all[i].form && seconds(i) < seconds(without_form)) without_form = i;
  }
  if (all[out.winner].form &&
      seconds(out.winner) * (1 + noise(out.winner, without_form)) >= seconds(without_form))
    out.winner = without_form;
  if (out.winner == 0) return out;
  out.noise = noise(out.winner, 0);
  out.improved = seconds(out.winner) * (1 + out.noise) < seconds(0);
  return out;
}

}  // namespace tilewright::search::detail
