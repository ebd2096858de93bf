// How well a model ranks a workload after a few of its programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/support/random.hpp>

#include "search_contestants.hpp"

namespace bench {

/// Squared error of the best line from scores to labels: over all programs, and over those in the
/// fastest quarter, MetaTune's MSE(D).
inline std::pair<double, double> errors(const std::vector<double>& scores,
                                        const std::vector<double>& labels) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    mx += scores[i] / n;
    my += labels[i] / n;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    xx += (scores[i] - mx) * (scores[i] - mx);
    xy += (scores[i] - mx) * (labels[i] - my);
  }
  const double slope = xx > 0 ? std::max(xy / xx, 0.0) : 0;
  std::vector<double> sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  const double quarter = sorted[sorted.size() * 3 / 4];
  double all = 0, fast = 0, count = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double miss = my + slope * (scores[i] - mx) - labels[i];
    all += miss * miss / n;
    if (labels[i] < quarter) continue;
    fast += miss * miss;
    ++count;
  }
  return {all, fast / count};
}

/// Quality of a model by workload (`told`: of the pairs that measuring tells apart), after it has met 0, 8, 16 and 32 programs: means over the orders in
/// which it meets them.
class few_shots {
 public:
  static constexpr std::size_t counts[] = {0, 8, 16, 32};

  struct quality {
    std::vector<double> pairs, told, top1, top8, error, error_of_fast;  // [workloads]
  };

  void begin_workload() {
    for (const std::size_t n : counts) {
      quality& q = after_[n];
      for (auto* list : {&q.pairs, &q.told, &q.top1, &q.top8, &q.error, &q.error_of_fast})
        list->push_back(0);
    }
  }

  /// Meets programs of a workload in an order of its own, and ranks what lies beyond the first ones.
  /// @param share of this order in the means
  void meet(tilewright::cost::model& model, const ranked_workload& held, std::uint64_t order,
            double share) {
    std::vector<tilewright::cost::sample> own = held.samples;
    std::vector<double> spread = held.errors;
    tilewright::support::random r(order);
    for (std::size_t i = own.size(); i-- > 1;) {
      const std::size_t j = r.below(i + 1);
      std::swap(own[i], own[j]);
      std::swap(spread[i], spread[j]);
    }
    const auto all = std::span<const tilewright::cost::sample>(own);
    const auto test = all.subspan(counts[std::size(counts) - 1]);
    const auto errors_of_test = std::span<const double>(spread).subspan(all.size() - test.size());
    std::vector<double> speed, labels;
    for (const tilewright::cost::sample& s : test) speed.push_back(1 / s.seconds);
    const double best = *std::max_element(speed.begin(), speed.end());
    for (const double s : speed) labels.push_back(s / best);
    std::size_t known = 0;
    for (const std::size_t n : counts) {
      if (n > known) model.update(all.subspan(known, n - known));
      known = n;
      const std::vector<double> scores = model.predict(test);
      const auto [whole, fast] = errors(scores, labels);
      quality& q = after_[n];
      q.pairs.back() += share * tilewright::cost::pairwise_accuracy(scores, speed);
      q.told.back() += share * tilewright::cost::pairwise_accuracy(scores, speed, errors_of_test);
      q.top1.back() += share * tilewright::cost::top_score(scores, speed, 1);
      q.top8.back() += share * tilewright::cost::top_score(scores, speed, 8);
      q.error.back() += share * whole;
      q.error_of_fast.back() += share * fast;
    }
  }

  /// The workloads of `other` after those of this one.
  void append(const few_shots& other) {
    for (const std::size_t n : counts) {
      quality& to = after_[n];
      const quality& from = other.after(n);
      for (const auto list : {&quality::pairs, &quality::told, &quality::top1, &quality::top8,
                              &quality::error, &quality::error_of_fast})
        (to.*list).insert((to.*list).end(), (from.*list).begin(), (from.*list).end());
    }
  }

  const quality& after(std::size_t n) const { return after_.at(n); }

 private:
  std::map<std::size_t, quality> after_;
};
inline constexpr std::size_t most_shots = few_shots::counts[std::size(few_shots::counts) - 1];

}  // namespace bench
