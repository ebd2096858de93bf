// A search that is replayed: a workload's recorded programs are all there is to find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/search/program_source.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/search/trace_coordinates.hpp>

#include "search_data.hpp"

namespace bench {

/// A workload's recorded programs as candidates: the whole space of a replayed search. Strategies
/// draw, change and cross traces as always; instead of the program that a trace makes they get one of
/// the recorded ones that lie nearest to it, so that a step costs no replay and all that a strategy
/// ever looks at is in the table.
class replay_table {
 public:
  explicit replay_table(const recorded_workload& w)
      : task_(w.task()), coordinates_(task_.sketches) {
    for (const timed_trace& t : w.all()) {
      if (!t.drawn) continue;
      auto c = tilewright::search::replay(tilewright::trace::parse(t.trace), task_.function, 1);
      if (!c) continue;
      by_identity_.emplace(c->identity, members_.size());
      points_.push_back(coordinates_.of(c->scheduled.trace()));
      of_sketch_[points_.back().categories.back()].push_back(members_.size());
      members_.push_back(std::move(*c));
      times_.push_back(&t);
      best_ = std::min(best_, t.seconds());
    }
    task_.finish = tilewright::search::detail::program_source(
        [this](const tilewright::trace& t, std::uint64_t seed) { return member_for(t, seed); });
  }
  replay_table(const replay_table&) = delete;
  replay_table& operator=(const replay_table&) = delete;

  std::size_t size() const { return members_.size(); }

  /// best known / best so far, after each trial. Any thread.
  std::vector<double> curve(tilewright::search::strategy& s, std::size_t trials,
                            std::uint64_t seed) const {
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
        const std::optional<std::size_t> i = recorded(c, had);
        if (!i) break;
        had[*i] = true;
        taken.push_back(members_[*i]);
        seconds.push_back(times_[*i]->drawn_again(noise));
        so_far = std::min(so_far, times_[*i]->seconds());
        out.push_back(std::isfinite(so_far) ? best_ / so_far : 0);
      }
      if (out.size() < trials) s.learn(taken, seconds);  // the last times change nothing
    }
    while (out.size() < trials) out.push_back(out.empty() ? 0 : out.back());
    return out;
  }

 private:
  /// Members among which chance decides. The nearest one of a trace with one decision changed is mostly
  /// the one that it was changed from; a search that is always given that one stands still.
  static constexpr std::size_t near = 4;

  std::optional<tilewright::search::candidate> member_for(tilewright::trace t,
                                                          std::uint64_t seed) const {
    tilewright::support::random r(seed);
    const auto sketch = of_sketch_.find(coordinates_.of(t).categories.back());
    if (sketch == of_sketch_.end()) return std::nullopt;
    const std::vector<std::size_t>& members = sketch->second;
    const tilewright::trace& drawn = members_[members[r.below(members.size())]].scheduled.trace();
    bool asks = false, says = false;
    for (const std::size_t i : tilewright::search::choices(t)) {
      (t[i].choice.empty() ? asks : says) = true;
      if (t[i].choice.empty() && i < drawn.size()) t = t.with_decision(i, drawn[i].choice);
    }
    const tilewright::cost::mixed_point at = coordinates_.of(t);
    std::vector<std::pair<double, std::size_t>> nearest;
    for (const std::size_t m : members) nearest.emplace_back(distance(at, points_[m]), m);
    const std::size_t count = asks && !says ? 1 : std::min(near, nearest.size());
    std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count),
                      nearest.end());
    return members_[nearest[r.below(count)].second];
  }

  /// The member that a candidate is; of one that is none, the nearest that is left.
  std::optional<std::size_t> recorded(const tilewright::search::candidate& c,
                                      const std::vector<bool>& had) const {
    if (const auto found = by_identity_.find(c.identity);
        found != by_identity_.end() && !had[found->second])
      return found->second;
    const tilewright::cost::mixed_point at = coordinates_.of(c.scheduled.trace());
    std::optional<std::size_t> out;
    double least = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (had[i]) continue;
      const double away = distance(at, points_[i]);
      if (out && away >= least) continue;
      out = i;
      least = away;
    }
    return out;
  }

  static double distance(const tilewright::cost::mixed_point& a,
                         const tilewright::cost::mixed_point& b) {
    double out = 0;
    for (std::size_t k = 0; k < a.ordered.size(); ++k)
      out += (a.ordered[k] - b.ordered[k]) * (a.ordered[k] - b.ordered[k]);
    for (std::size_t k = 0; k < a.categories.size(); ++k)
      out += a.categories[k] != b.categories[k] ? 1 : 0;
    return out;
  }

  tilewright::search::search_task task_;
  tilewright::search::trace_coordinates coordinates_;
  std::map<tilewright::support::hash128, std::size_t> by_identity_;
  std::map<std::int64_t, std::vector<std::size_t>> of_sketch_;  // members by category of the sketch
  std::vector<tilewright::search::candidate> members_;
  std::vector<tilewright::cost::mixed_point> points_;
  std::vector<const timed_trace*> times_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace bench
