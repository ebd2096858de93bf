#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include <tilewright/search/task_scheduler.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search {
namespace detail::tasks {

inline double gradient(const task_history& t, double alpha, std::size_t window) {
  const std::size_t n = t.best.size();
  const double now = t.best.back();
  const double fall =
      n < 1 + window ? 0.0 : (t.best[n - 1 - window] - now) / static_cast<double>(window);
  return t.weight * (alpha * fall + (1 - alpha) * now / static_cast<double>(n));
}

/// The state of run_tasks.
class runner {
 public:
  runner(const std::vector<double>& weights, const task_options& options,
         const slice_function& slice, const std::vector<std::vector<double>>& before)
      : options_(options),
        slice_(slice),
        random_(options.session.seed),
        results_(weights.size()),
        stale_(weights.size(), 0) {
    for (const double w : weights) history_.push_back({w, {}, false});
    for (std::size_t i = 0; i < std::min(before.size(), weights.size()); ++i)
      history_[i].best = before[i];
  }

  std::vector<task_result> run() {
    std::size_t last = history_.size();
    while (left() > 0 && trials_ < options_.trials && !cancelled()) {
      last = next_task(history_, options_.order, last, random_);
      if (last == history_.size()) break;
      step(last);
    }
    return std::move(results_);
  }

 private:
  double left() const {
    return options_.seconds -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool cancelled() const { return options_.cancelled && options_.cancelled->load(); }

  void step(std::size_t i) {
    task_result& r = results_[i];
    session_options o = options_.session;
    o.seconds = std::max(0.0, std::min(left(), options_.slice_seconds));
    o.trials =
        std::min({options_.slice, options_.trials - trials_, options_.trials_per_task - r.trials});
    o.seed += history_[i].best.size();  // slices shall not draw the same, those of earlier runs too
    o.cancelled = options_.cancelled;
    try {
      note(i, slice_(i, o));
    } catch (const build_error& e) {
      give_up(i, e.what());
    } catch (const internal_error& e) {
      give_up(i, e.what());
    }
    if (options_.events) options_.events(i, r.last);
  }

  void note(std::size_t i, tuning_result&& now) {
    task_result& r = results_[i];
    task_history& h = history_[i];
    if (!(now.best > 0)) now.best = INFINITY;  // cancelled before anything was timed
    const bool better = h.best.empty() || now.best < h.best.back();
    stale_[i] = better ? 0 : stale_[i] + 1;
    h.best.push_back(better ? now.best : h.best.back());
    trials_ += now.trials;
    r.trials += now.trials;
    ++r.slices;
    if (better || r.slices == 1)
      r.last = std::move(now);
    else
      r.last.trials = now.trials;
    h.finished = stale_[i] >= options_.patience || r.last.trials == 0 ||
                 r.trials >= options_.trials_per_task;
  }

  void give_up(std::size_t i, const char* why) {
    results_[i].last.remarks.push_back(why);
    history_[i].finished = true;
  }

  const task_options& options_;
  const slice_function& slice_;
  support::random random_;
  std::vector<task_history> history_;
  std::vector<task_result> results_;
  std::vector<int> stale_;  // slices without a better time
  int trials_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace detail::tasks

TILEWRIGHT_INLINE std::size_t next_task(const std::vector<task_history>& tasks, task_order order,
                                        std::size_t last, support::random& random, double alpha,
                                        std::size_t window) {
  const std::size_t n = tasks.size();
  for (std::size_t i = 0; i < n && order == task_order::gradient; ++i)
    if (!tasks[i].finished && tasks[i].best.empty()) return i;
  if (order == task_order::round_robin) {
    for (std::size_t k = 1; k <= n; ++k) {
      const std::size_t i = last >= n ? k - 1 : (last + k) % n;
      if (!tasks[i].finished) return i;
    }
    return n;
  }
  std::vector<std::size_t> alive;
  std::vector<double> gain;
  for (std::size_t i = 0; i < n; ++i) {
    if (tasks[i].finished) continue;
    alive.push_back(i);
    gain.push_back(detail::tasks::gradient(tasks[i], alpha, window));
  }
  if (alive.empty()) return n;
  const auto [least, most] = std::minmax_element(gain.begin(), gain.end());
  if (*least == *most) return alive[random.below(alive.size())];
  return alive[static_cast<std::size_t>(most - gain.begin())];
}

TILEWRIGHT_INLINE std::vector<double> slices_of(const std::vector<record>& records, int slice) {
  std::vector<double> out;
  double best = INFINITY;
  int n = 0;
  for (const record& r : records) {
    best = std::min(best, r.best());
    if (++n % std::max(slice, 1) == 0) out.push_back(best);
  }
  if (n % std::max(slice, 1) != 0) out.push_back(best);
  return out;
}

TILEWRIGHT_INLINE std::vector<task_result> run_tasks(
    const std::vector<double>& weights, const task_options& options, const slice_function& slice,
    const std::vector<std::vector<double>>& before) {
  return detail::tasks::runner(weights, options, slice, before).run();
}

TILEWRIGHT_INLINE std::vector<task_result> run_tasks(const std::vector<task>& tasks,
                                                     const task_options& options, database& db) {
  std::vector<double> weights;
  std::vector<std::vector<double>> before;
  for (const task& t : tasks) {
    weights.push_back(t.weight);
    const std::vector<record> known = db.all([&](const record& r) { return r.key == t.what->key; });
    before.push_back(slices_of(known, options.slice));
  }
  return run_tasks(
      weights, options,
      [&](std::size_t i, const session_options& o) { return tune(*tasks[i].what, o, db); }, before);
}

}  // namespace tilewright::search
