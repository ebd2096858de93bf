#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include <tilewright/impl/cost/standardization.hpp>
#include <tilewright/impl/search/sketch.hpp>
#include <tilewright/impl/search/strategies/coordinate.hpp>
#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/impl/search/strategies/policy_network.hpp>
#include <tilewright/impl/search/strategies/sample_maker.hpp>
#include <tilewright/search/strategies/ppo.hpp>
#include <tilewright/search/trace_coordinates.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

class policy_searcher final : public drawing_strategy {
 public:
  policy_searcher(std::shared_ptr<cost::model> model, const ppo_options& options)
      : model_(std::move(model)), options_(options) {}

  void start(const search_task& task, std::uint64_t seed) override {
    drawing_strategy::start(task, seed);
    shown_ = sample_maker(model_.get(), task.function);
    coordinates_.emplace(task_.sketches);
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    if (fast_.empty()) return collect(count, over, [&](support::random r) { return fresh(r); });
    met_.clear();
    gather(over);
    for (int step = 0; step < options_.steps && !(over && over()); ++step) walk(over);
    improve();
    std::vector<candidate> out = picks(count);
    if (out.size() < count)
      for (candidate& c :
           collect(count - out.size(), over, [&](support::random r) { return fresh(r); }))
        out.push_back(std::move(c));
    return out;
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (std::isfinite(seconds[i]) && seconds[i] > 0) fast_.push_back({measured[i], seconds[i]});
    support::stable_sort(fast_,
                         [](const timed& a, const timed& b) { return a.seconds < b.seconds; });
    while (fast_.size() > options_.walkers) fast_.pop_back();
    model_->update(shown_(measured, seconds));
  }

 private:
  struct timed {
    candidate program;
    double seconds;
  };
  struct walker {
    candidate at;
    double score = 0;
    std::vector<walked_step> path;
    std::vector<double> rewards;
  };
  struct meeting {
    candidate program;
    double score = 0;
  };

  void gather(const std::function<bool()>& over) {
    walkers_.clear();
    const auto elders =
        static_cast<std::size_t>(options_.elders * static_cast<double>(options_.walkers));
    for (std::size_t i = 0; i < std::min(elders, fast_.size()); ++i)
      walkers_.push_back({fast_[i].program, 0, {}, {}});
    for (std::size_t i = 0; walkers_.size() < options_.walkers && i < 4 * options_.walkers; ++i) {
      if (over && over()) break;
      if (auto c = fresh(random_.split()))
        walkers_.push_back({std::move(*c), 0, {}, {}});
      else
        ++refused_;
    }
    std::vector<const candidate*> list;
    for (const walker& w : walkers_) list.push_back(&w.at);
    const std::vector<double> scores = scores_of(list);
    unit_ = cost::detail::standardization::of(scores).deviation;
    for (std::size_t i = 0; i < walkers_.size(); ++i) {
      walkers_[i].score = scores[i];
      meet(walkers_[i].at, scores[i]);
    }
  }

  std::vector<double> scores_of(const std::vector<const candidate*>& list) {
    return model_->predict(shown_(list));
  }

  std::vector<double> state_of(const candidate& c) const {
    return coordinates_->of(c.scheduled.trace()).ordered;
  }

  policy_network& policy_of(const candidate& c, std::size_t numbers) {
    auto& out = policies_[sketch_of(c.scheduled.trace())];
    if (!out)
      out = std::make_unique<policy_network>(coordinates_->ordered(), numbers, options_.stay,
                                             options_.rate, random_.split().next());
    return *out;
  }

  void walk(const std::function<bool()>& over) {
    std::vector<std::pair<std::size_t, candidate>> moves;
    for (std::size_t i = 0; i < walkers_.size() && !(over && over()); ++i) {
      walker& w = walkers_[i];
      const std::vector<knob> knobs = knobs_of(w.at.scheduled.trace());
      if (knobs.empty()) continue;
      policy_network& policy = policy_of(w.at, knobs.size());
      walked_step s;
      s.state = state_of(w.at);
      support::random r = random_.split();
      s.action = policy.act(s.state, r, s.log_probability);
      s.base = policy.value(s.state);
      std::optional<candidate> next = after(w.at.scheduled.trace(), knobs, s.action, r);
      w.path.push_back(std::move(s));
      w.rewards.push_back(next ? 0 : options_.refusal);
      if (next)
        moves.push_back({i, std::move(*next)});
      else
        ++refused_;
    }
    std::vector<const candidate*> list;
    for (const auto& [i, c] : moves) list.push_back(&c);
    const std::vector<double> scores = scores_of(list);
    for (std::size_t m = 0; m < moves.size(); ++m) {
      auto& [i, c] = moves[m];
      walker& w = walkers_[i];
      w.rewards.back() = (scores[m] - w.score) / unit_;
      meet(c, scores[m]);
      w.at = std::move(c);
      w.score = scores[m];
    }
  }

  /// The trace with all numbers turned; those at their ends stay.
  std::optional<candidate> after(trace t, const std::vector<knob>& knobs,
                                 const std::vector<std::uint8_t>& action, support::random& r) {
    for (std::size_t k = 0; k < knobs.size() && k < action.size(); ++k)
      if (action[k] != 1)
        if (std::optional<trace> next = turned(t, knobs[k], action[k] > 1, task_.function))
          t = std::move(*next);
    return replayed(t, r);
  }

  void improve() {
    std::map<support::hash128, std::vector<walked_step>> by_policy;
    for (walker& w : walkers_) {
      double gain = 0;
      for (std::size_t i = w.path.size(); i-- > 0;) {
        gain = w.rewards[i] + options_.discount * gain;
        w.path[i].gain = gain;
      }
      auto& all = by_policy[sketch_of(w.at.scheduled.trace())];
      all.insert(all.end(), w.path.begin(), w.path.end());
    }
    for (const auto& [sketch, walked] : by_policy)
      for (int epoch = 0; epoch < options_.epochs && !walked.empty(); ++epoch)
        policies_.at(sketch)->learn(walked, {options_.clip, options_.entropy});
  }

  void meet(const candidate& c, double score) {
    if (seen_.count(c.identity) == 0) met_.insert_or_assign(c.identity, meeting{c, score});
  }

  std::vector<candidate> picks(std::size_t count) {
    std::vector<const meeting*> all;
    for (const auto& [key, m] : met_) all.push_back(&m);
    support::stable_sort(all,
                         [](const meeting* a, const meeting* b) { return a->score > b->score; });
    std::vector<candidate> out;
    for (std::size_t i = 0; i < all.size() && out.size() < count; ++i)
      if (seen_.insert(all[i]->program.identity).second) out.push_back(all[i]->program);
    return out;
  }

  std::shared_ptr<cost::model> model_;
  ppo_options options_;
  sample_maker shown_;
  std::optional<trace_coordinates> coordinates_;
  std::map<support::hash128, std::unique_ptr<policy_network>> policies_;  // by sketch
  std::vector<timed> fast_;
  std::vector<walker> walkers_;
  std::map<support::hash128, meeting> met_;
  double unit_ = 1;  // standard deviation of the scores
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> ppo(std::shared_ptr<cost::model> model,
                                                const ppo_options& options) {
  return std::make_unique<detail::policy_searcher>(std::move(model), options);
}

}  // namespace tilewright::search
