#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <tilewright/impl/cost/standardization.hpp>
#include <tilewright/impl/search/strategies/drawing.hpp>
#include <tilewright/impl/search/strategies/sample_maker.hpp>
#include <tilewright/search/mutator.hpp>
#include <tilewright/search/strategies/annealing.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::search {
namespace detail {

class annealer final : public drawing_strategy {
 public:
  annealer(std::shared_ptr<cost::model> model, const annealing_options& options)
      : model_(std::move(model)), options_(options) {}

  void start(const search_task& task, std::uint64_t seed) override {
    drawing_strategy::start(task, seed);
    shown_ = sample_maker(model_.get(), task.function);
  }

  std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) override {
    // before anything is known a model has nothing to climb
    if (learned_ == 0) return collect(count, over, [&](support::random r) { return fresh(r); });
    met_.clear();
    fill(over);
    assess();
    walk(count, over);
    std::vector<candidate> out = picks(count);
    if (out.size() < count)
      for (candidate& c :
           collect(count - out.size(), over, [&](support::random r) { return fresh(r); }))
        out.push_back(std::move(c));
    return out;
  }

  void learn(std::span<const candidate> measured, std::span<const double> seconds) override {
    drawing_strategy::learn(measured, seconds);
    learned_ += measured.size();
    model_->update(shown_(measured, seconds));
  }

 private:
  struct chain {
    candidate at;
    double score = 0;
  };
  struct meeting {
    candidate program;
    double score = 0;
  };

  /// Chains go on where the last round left them.
  void fill(const std::function<bool()>& over) {
    for (std::size_t i = 0; chains_.size() < options_.chains && i < 4 * options_.chains; ++i) {
      if (over && over()) return;
      if (auto c = fresh(random_.split()))
        chains_.push_back({std::move(*c)});
      else
        ++refused_;
    }
  }

  std::vector<double> scores_of(const std::vector<const candidate*>& list) {
    return model_->predict(shown_(list));
  }

  /// The model has learned since the last round: what it said then no longer counts.
  void assess() {
    std::vector<const candidate*> list;
    for (const chain& c : chains_) list.push_back(&c.at);
    const std::vector<double> scores = scores_of(list);
    unit_ = cost::detail::standardization::of(scores).deviation;
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      chains_[i].score = scores[i];
      meet(chains_[i].at, scores[i]);
    }
  }

  void walk(std::size_t count, const std::function<bool()>& over) {
    int still = 0;
    double floor = worst_of_best(count);
    for (int step = 0; step < options_.steps && still < options_.patience; ++step) {
      const double temperature =
          options_.temperature *
          (1 - static_cast<double>(step) / static_cast<double>(options_.steps));
      std::vector<std::pair<std::size_t, candidate>> moves;
      for (std::size_t i = 0; i < chains_.size() && !(over && over()); ++i)
        if (auto c = changed(chains_[i].at)) moves.push_back({i, std::move(*c)});
      if (over && over()) return;
      std::vector<const candidate*> list;
      for (const auto& [i, c] : moves) list.push_back(&c);
      const std::vector<double> scores = scores_of(list);
      for (std::size_t m = 0; m < moves.size(); ++m) {
        auto& [i, c] = moves[m];
        meet(c, scores[m]);
        const double gain = (scores[m] - chains_[i].score) / unit_;
        if (accepted(gain / (temperature + 1e-5))) chains_[i] = {std::move(c), scores[m]};
      }
      const double now = worst_of_best(count);
      still = now > floor ? 0 : still + 1;
      floor = now;
    }
  }

  std::optional<candidate> changed(const candidate& from) {
    support::random r = random_.split();
    const std::optional<trace> t = mutate_by(mutators(), from.scheduled.trace(), task_.function, r);
    std::optional<candidate> out = t ? replayed(*t, r) : std::nullopt;
    if (!out) ++refused_;
    return out;
  }

  /// Compared as integers of 20 bits, so that mathematical libraries that differ in the last place
  /// decide alike.
  bool accepted(double gain) {
    const std::uint64_t ticket = random_.next() >> 44;
    return gain >= 0 || ticket < static_cast<std::uint64_t>(std::exp(gain) * 0x1.0p20);
  }

  void meet(const candidate& c, double score) {
    if (seen_.count(c.identity) == 0) met_.insert_or_assign(c.identity, meeting{c, score});
  }

  std::vector<const meeting*> ranked() const {
    std::vector<const meeting*> out;
    for (const auto& [key, m] : met_) out.push_back(&m);
    support::stable_sort(out,
                         [](const meeting* a, const meeting* b) { return a->score > b->score; });
    return out;
  }

  double worst_of_best(std::size_t count) const {
    const std::vector<const meeting*> all = ranked();
    return all.size() < count || count == 0 ? -std::numeric_limits<double>::infinity()
                                            : all[count - 1]->score;
  }

  std::vector<candidate> picks(std::size_t count) {
    std::vector<const meeting*> all = ranked();
    std::vector<candidate> out;
    const auto chance = static_cast<std::uint64_t>(options_.random_share * 1e6);
    while (out.size() < count && !all.empty()) {
      const std::size_t i = random_.below(1000000) < chance ? random_.below(all.size()) : 0;
      if (seen_.insert(all[i]->program.identity).second) out.push_back(all[i]->program);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return out;
  }

  std::shared_ptr<cost::model> model_;
  annealing_options options_;
  sample_maker shown_;
  std::vector<chain> chains_;
  std::map<support::hash128, meeting> met_;
  double unit_ = 1;  // standard deviation of the scores
  std::size_t learned_ = 0;
};

}  // namespace detail

TILEWRIGHT_INLINE std::unique_ptr<strategy> annealing(std::shared_ptr<cost::model> model,
                                                      const annealing_options& options) {
  return std::make_unique<detail::annealer>(std::move(model), options);
}

}  // namespace tilewright::search
