#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::cost {

namespace detail {

/// @param told whether the pair (i, j) counts
template <class Told>
double accuracy_of_pairs(std::span<const double> scores, std::span<const double> truth,
                         const Told& told) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (truth[i] == truth[j] || !told(i, j)) continue;
      ++pairs;
      if (scores[i] == scores[j])
        right += 0.5;
      else if ((scores[i] > scores[j]) == (truth[i] > truth[j]))
        ++right;
    }
  return pairs == 0 ? 0.5 : right / pairs;
}

}  // namespace detail

TILEWRIGHT_INLINE double pairwise_accuracy(std::span<const double> scores,
                                           std::span<const double> truth) {
  return detail::accuracy_of_pairs(scores, truth, [](std::size_t, std::size_t) { return true; });
}

TILEWRIGHT_INLINE double pairwise_accuracy(std::span<const double> scores,
                                           std::span<const double> truth,
                                           std::span<const double> errors) {
  return detail::accuracy_of_pairs(scores, truth, [&](std::size_t i, std::size_t j) {
    return std::abs(truth[i] - truth[j]) > 2 * std::hypot(errors[i], errors[j]);
  });
}

TILEWRIGHT_INLINE double top_score(std::span<const double> scores, std::span<const double> truth,
                                   std::size_t k) {
  if (truth.empty()) return 0;
  std::vector<std::size_t> order(truth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  support::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  double best = 0;
  for (std::size_t i = 0; i < std::min(k, order.size()); ++i)
    best = std::max(best, truth[order[i]]);
  const double all = *std::max_element(truth.begin(), truth.end());
  return all > 0 ? best / all : 0;
}

}  // namespace tilewright::cost
