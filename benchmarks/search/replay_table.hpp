// A search that is replayed: a workload's recorded programs are all there is to find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <tilewright/learning.hpp>
#include <tilewright/search/trace_coordinates.hpp>

#include "search_data.hpp"

namespace bench {

/// A workload's recorded programs as candidates: the whole space of a replayed search.
class replay_table {
 public:
  explicit replay_table(const recorded_workload& w)
      : task_(w.task()), coordinates_(task_.sketches) {
    for (const timed_trace& t : w.all()) {
      if (!t.drawn) continue;
      auto c = tilewright::search::replay(tilewright::trace::parse(t.trace), task_.function, 1);
      if (!c) continue;
      points_.push_back(coordinates_.of(c->scheduled.trace()));
      members_.push_back(std::move(*c));
      times_.push_back(&t);
      best_ = std::min(best_, t.seconds());
    }
  }

  std::size_t size() const { return members_.size(); }

  /// best known / best so far, after each trial.
  std::vector<double> curve(tilewright::search::strategy& s, std::size_t trials,
                            std::uint64_t seed) {
    std::vector<bool> had(size(), false);
    tilewright::support::random noise(seed + 1000);
    s.start(task_, seed);
    std::vector<double> out;
    double so_far = std::numeric_limits<double>::infinity();
    int empty = 0;
    while (out.size() < std::min(trials, size()) && empty < 3) {
      const std::vector<tilewright::search::candidate> batch =
          s.propose(std::min<std::size_t>(8, trials - out.size()), [] { return false; });
      empty = batch.empty() ? empty + 1 : 0;
      std::vector<tilewright::search::candidate> taken;
      std::vector<double> seconds;
      for (const tilewright::search::candidate& c : batch) {
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
  std::optional<std::size_t> nearest(const tilewright::search::candidate& c,
                                     const std::vector<bool>& had) const {
    const tilewright::cost::mixed_point p = coordinates_.of(c.scheduled.trace());
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

  const tilewright::search::search_task& task_;
  tilewright::search::trace_coordinates coordinates_;
  std::vector<tilewright::search::candidate> members_;
  std::vector<tilewright::cost::mixed_point> points_;
  std::vector<const timed_trace*> times_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace bench
