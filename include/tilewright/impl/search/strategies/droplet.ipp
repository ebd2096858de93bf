#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <vector>

#include <tilewright/impl/search/strategies/coordinate.hpp>
#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/search/strategies/droplet.hpp>

namespace tilewright::search {
namespace detail {

class descent final : public drawing_strategy {
 public:
  explicit descent(const droplet_options& options) : options_(options) {}

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    std::vector<candidate> out;
    if (known_.size() >= options_.first || exhausted_draws_) {
      while (out.size() < count && !(over && over())) {
        while (open_.empty() && move_on()) {  // a centre may have no neighbours
        }
        if (open_.empty()) break;
        take(out);
      }
    }
    if (out.size() == count || (over && over())) return out;
    const std::size_t wanted = count - out.size();
    std::vector<candidate> drawn =
        collect(wanted, over, [&](support::random r) { return fresh(r); });
    exhausted_draws_ = drawn.size() < wanted;
    for (candidate& c : drawn) out.push_back(std::move(c));
    if (out.empty() && !open_.empty()) take(out);
    return out;
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    const point* faster = nullptr;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      if (!std::isfinite(seconds[i]) || !(seconds[i] > 0)) continue;
      const auto [at, fresh_one] = known_.try_emplace(
          measured[i].identity, point{measured[i].scheduled.trace(), seconds[i], {}, false});
      if (!fresh_one) continue;
      if (const auto way = ways_.find(measured[i].identity); way != ways_.end())
        at->second.way = way->second;
      if (!faster || at->second.seconds < faster->seconds) faster = &at->second;
    }
    ways_.clear();
    if (faster && faster->seconds < best_ * (1 - options_.noise)) {
      best_ = faster->seconds;
      open_.clear();  // it is the next centre
    }
  }

 private:
  /// A change of one decision; nothing has changed where `from` is empty.
  struct direction {
    std::size_t instruction = 0;
    decision from, to;
  };
  struct point {
    tilewright::trace trace;
    double seconds;
    direction way;      // that led there
    bool done = false;  // was a centre
  };
  struct step {
    tilewright::trace trace;
    direction way;
  };

  /// The fastest point that was no centre becomes one. False where there is none.
  bool move_on() {
    point* next = nullptr;
    for (auto& [key, p] : known_)
      if (!p.done && (!next || p.seconds < next->seconds)) next = &p;
    if (!next) return false;
    next->done = true;
    best_ = std::min(best_, next->seconds);
    open(*next);
    return true;
  }

  void open(const point& centre) {
    for (trace t : further(centre)) open_.push_back({std::move(t), centre.way});
    std::vector<step> around;
    for (const std::size_t i : choices(centre.trace))
      for (decision& d : decisions_beside(centre.trace, i, task_.function)) {
        direction way{i, centre.trace[i].choice, d};
        around.push_back({centre.trace.with_decision(i, std::move(d)), std::move(way)});
      }
    for (std::size_t i = around.size(); i-- > 1;)
      std::swap(around[i], around[random_.below(i + 1)]);
    for (step& s : around) open_.push_back(std::move(s));
  }

  /// The way that led to the centre, gone on.
  std::vector<trace> further(const point& centre) const {
    std::vector<trace> out;
    const direction& w = centre.way;
    if (w.from.empty() || w.from.size() != w.to.size()) return out;
    decision last = w.from, now = w.to;
    for (int n = 0; n < options_.longer; ++n) {
      decision next = now;
      for (std::size_t k = 0; k < now.size(); ++k) {
        if (now.size() == 1)
          next[k] = 2 * now[k] - last[k];
        else if (last[k] > 0 && (now[k] * now[k]) % last[k] == 0)
          next[k] = now[k] * now[k] / last[k];
        else
          return out;
        if (next[k] < (now.size() == 1 ? 0 : 1)) return out;
      }
      out.push_back(centre.trace.with_decision(w.instruction, next));
      last = std::move(now);
      now = std::move(next);
    }
    return out;
  }

  void take(std::vector<candidate>& out) {
    const step s = std::move(open_.front());
    open_.pop_front();
    support::random r = random_.split();
    std::optional<candidate> c = replayed(s.trace, r);
    if (!c) {
      ++refused_;
      return;
    }
    if (!seen_.insert(c->identity).second) return;
    ways_.emplace(c->identity, s.way);
    out.push_back(std::move(*c));
  }

  droplet_options options_;
  std::map<support::hash128, point> known_;
  std::map<support::hash128, direction> ways_;  // of what was proposed and is not learned yet
  std::deque<step> open_;                       // around the centre
  double best_ = std::numeric_limits<double>::infinity();
  bool exhausted_draws_ = false;  // nothing new came from draws
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> droplet(const droplet_options& options) {
  return std::make_unique<detail::descent>(options);
}

}  // namespace tilewright::search
