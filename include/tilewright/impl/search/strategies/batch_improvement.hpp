// The improvement of a batch as a whole (qEI; Ginsbourger et al. 2010, Wilson et al. 2018): samples of
// what the picks of a batch turn out to be, and what a further pick adds to the best of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include <tilewright/search/strategies/bayesian.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search::detail {

/// The quantiles of the standard normal distribution at the middles of `count` equal shares.
inline std::vector<double> normal_quantiles(std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    double low = -10, high = 10;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (0.5 * std::erfc(-middle / std::sqrt(2.0)) < share ? low : high) = middle;
    }
    out.push_back(0.5 * (low + high));
  }
  return out;
}

/// A batch that grows pick by pick. In each sample every pick has a value, drawn jointly: the
/// deviations of a pick from its mean are the quantiles of a normal distribution, in a random order
/// of their own. The value of what is not yet picked is integrated in closed form, so that the first
/// pick maximizes the expected improvement exactly.
class batch_improvement {
 public:
  /// @param means of the points that may be picked
  /// @param best what is to be improved on
  batch_improvement(std::vector<double> means, double best, std::size_t samples,
                    support::random draws)
      : best_(std::max<std::size_t>(samples, 1), best),
        means_(best_.size(), std::move(means)),
        quantiles_(normal_quantiles(best_.size())),
        draws_(draws) {}

  /// Logarithm of what point `i`, whose value has that deviation when the picks are known, is
  /// expected to add to the improvement of the batch.
  double log_gain(std::size_t i, double deviation) const {
    std::vector<double> logs;
    for (std::size_t s = 0; s < samples(); ++s)
      logs.push_back(log_expected_improvement(means_[s][i], deviation, best_[s]));
    const double most = *std::max_element(logs.begin(), logs.end());
    if (!std::isfinite(most)) return most;
    double sum = 0;
    for (const double l : logs) sum += std::exp(l - most);
    return most + std::log(sum / static_cast<double>(samples()));
  }

  /// Picks point `i`.
  /// @param moves of the means for one deviation of its value (gaussian_process::pool::settle)
  void add(std::size_t i, const std::vector<double>& moves) {
    std::vector<double> z = quantiles_;
    for (std::size_t k = z.size(); k-- > 1;) std::swap(z[k], z[draws_.below(k + 1)]);
    for (std::size_t s = 0; s < samples(); ++s) {
      for (std::size_t j = 0; j < moves.size(); ++j) means_[s][j] += moves[j] * z[s];
      best_[s] = std::max(best_[s], means_[s][i]);
    }
  }

 private:
  std::size_t samples() const { return best_.size(); }

  std::vector<double> best_;                // [samples]
  std::vector<std::vector<double>> means_;  // [samples, points]
  std::vector<double> quantiles_;
  support::random draws_;
};

}  // namespace tilewright::search::detail
