// The candidates of a joint session: one trace each, with its code and its time at every workload.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/joint/joint_place.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::search::detail {

struct joint_candidate {
  std::optional<trace> what;    // of the leading workload; nothing: the default schedules
  std::vector<built> code;      // [places]
  std::vector<double> seconds;  // [places], medians; empty where it was not timed at all
};

/// Weighted geometric mean.
inline double joint_mean(const std::vector<std::unique_ptr<joint_place>>& places,
                         const std::vector<double>& seconds) {
  double logs = 0, weights = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    logs += places[i]->weight * std::log(seconds[i]);
    weights += places[i]->weight;
  }
  return std::exp(logs / weights);
}

/// Builds, times and compares candidates for a session on the leading workload.
class joint_candidates {
 public:
  /// The places outlive this.
  joint_candidates(const std::vector<std::unique_ptr<joint_place>>& places, std::size_t leader)
      : places_(places), leader_(leader), fastest_(places.size(), unknown) {
    joint_candidate standards;
    for (const auto& p : places) standards.code.push_back(p->standard);
    all_.push_back(std::make_shared<joint_candidate>(std::move(standards)));
  }

  /// Told of each candidate before it is built.
  void announce(const candidate& c) {
    const std::lock_guard lock(mutex_);
    traces_.insert_or_assign(c.identity, c.scheduled.trace());
  }

  /// Code of a candidate at all workloads, by that of the leading one. Called by several threads. What a session
  /// builds to compare its default schedule with is code by itself.
  built make(const ir::function& scheduled) {
    auto made = std::make_shared<joint_candidate>();
    {
      const support::hash128 key = ir::workload_key(scheduled);
      const std::lock_guard lock(mutex_);
      if (key == places_[leader_]->standard_key) return keep(all_.front());
      if (const auto found = traces_.find(key); found != traces_.end()) made->what = found->second;
    }
    const target::machine& where = places_[leader_]->what.machine;
    if (!made->what) return build(scheduled, where);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      std::string why;
      std::optional<candidate> c;
      if (i != leader_) c = places_[i]->adapted(*made->what, &why);
      built b;
      if (i == leader_ || c) b = build(i == leader_ ? scheduled : c->scheduled.function(), where);
      if (!b) {
        b.error = "at " + write_numbers(places_[i]->what.extents) + ": " +
                  (b.error.empty() ? why : b.error);
        return b;
      }
      made->code.push_back(std::move(b));
    }
    const std::lock_guard lock(mutex_);
    all_.push_back(made);
    return keep(made);
  }

  /// The mean time of a call, as one measurement. What is far behind is not timed at the workloads that are left:
  /// its time is then what it would be if it were the fastest there.
  measurement measure(const built& b, const measure_options& o) {
    const std::shared_ptr<joint_candidate> c = of(b);
    std::vector<double> seconds = fastest_;
    std::vector<std::vector<double>> times(places_.size());
    for (const std::size_t i : order()) {
      measure_options own = o;
      own.best = fastest_[i];
      measurement m = places_[i]->measure(c->code[i], own);
      if (!m.ok()) {
        m.detail = "at " + write_numbers(places_[i]->what.extents) + ": " + m.detail;
        return m;
      }
      seconds[i] = m.median();
      std::sort(m.seconds.begin(), m.seconds.end());
      times[i] = std::move(m.seconds);
      const double least =
          joint_mean(places_, seconds);  // unknown where a place has had no time yet
      if (std::isfinite(least) && least > o.hopeless * o.best) {
        measurement out;
        out.seconds = {least};
        return out;
      }
    }
    for (std::size_t i = 0; i < places_.size(); ++i)
      fastest_[i] = std::min(fastest_[i], seconds[i]);
    c->seconds = seconds;
    measurement out = joined(times);
    if (c->what && out.median() < o.best) check(*c, out);
    return out;
  }

  /// Those that were timed at all workloads, in the order in which they were built.
  std::vector<std::shared_ptr<joint_candidate>> timed() const {
    std::vector<std::shared_ptr<joint_candidate>> out;
    for (const auto& c : all_)
      if (c->what && !c->seconds.empty()) out.push_back(c);
    return out;
  }

 private:
  static constexpr double unknown = std::numeric_limits<double>::infinity();

  /// Under the lock, once there are several threads.
  built keep(const std::shared_ptr<joint_candidate>& c) {
    const built& lead = c->code[leader_];
    by_code_[lead.code.get()] = c;
    return lead;
  }
  std::shared_ptr<joint_candidate> of(const built& b) {
    const std::lock_guard lock(mutex_);
    return by_code_.at(b.code.get());
  }
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> out{leader_};
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (i != leader_) out.push_back(i);
    return out;
  }

  /// The n-th fastest calls at all workloads make one.
  measurement joined(const std::vector<std::vector<double>>& times) const {
    std::size_t calls = times.front().size();
    for (const auto& t : times) calls = std::min(calls, t.size());
    measurement out;
    for (std::size_t n = 0; n < calls; ++n) {
      std::vector<double> nth;
      for (const auto& t : times) nth.push_back(t[calls == 1 ? t.size() / 2 : n]);
      out.seconds.push_back(joint_mean(places_, nth));
    }
    return out;
  }

  /// At the leading workload the session itself compares results.
  void check(const joint_candidate& c, measurement& m) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (i == leader_) continue;
      const std::string wrong = places_[i]->difference(c.code[i]);
      if (wrong.empty()) continue;
      m.failed = failure::wrong_result;
      m.detail = "at " + write_numbers(places_[i]->what.extents) + ": " + wrong;
      return;
    }
  }

  const std::vector<std::unique_ptr<joint_place>>& places_;
  std::size_t leader_;
  std::vector<double> fastest_;  // s, [places]
  mutable std::mutex mutex_;     // of what follows
  std::map<support::hash128, trace> traces_;
  std::map<const backend::loaded*, std::shared_ptr<joint_candidate>> by_code_;
  std::vector<std::shared_ptr<joint_candidate>> all_;  // the first: default schedules
};

}  // namespace tilewright::search::detail
