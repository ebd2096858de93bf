// Means with intervals: how much of a difference is the choice of workloads and seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <tilewright/support/random.hpp>

namespace bench {

/// A mean, and the middle 95 % of the means of as many values drawn with replacement.
struct estimate {
  double mean = 0, low = 0, high = 0;

  std::string text() const {
    char out[64];
    std::snprintf(out, sizeof out, "%.3f [%.3f, %.3f]", mean, low, high);
    return out;
  }
};

/// @param values one per workload, each a mean over seeds: runs of one workload are no independent
/// evidence
inline estimate bootstrapped(const std::vector<double>& values, std::uint64_t seed = 1) {
  estimate out;
  if (values.empty()) return out;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) out.mean += v / n;
  tilewright::support::random r(seed);
  std::vector<double> means(2000);
  for (double& m : means) {
    m = 0;
    for (std::size_t i = 0; i < values.size(); ++i) m += values[r.below(values.size())] / n;
  }
  std::sort(means.begin(), means.end());
  out.low = means[means.size() / 40];
  out.high = means[means.size() - 1 - means.size() / 40];
  return out;
}

/// The interval of the differences of two lists, value by value: it leaves 0 out where one of them is
/// better beyond the choice of workloads.
inline estimate paired(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) differences.push_back(a[i] - b[i]);
  return bootstrapped(differences);
}

/// Probability of signed ranks as far from even as these, or farther, where neither list is better
/// (Wilcoxon, normal approximation; from about ten values on).
inline double wilcoxon(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> d;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i]) d.push_back(a[i] - b[i]);
  if (d.empty()) return 1;
  std::sort(d.begin(), d.end(), [](double x, double y) { return std::abs(x) < std::abs(y); });
  double positive = 0;
  for (std::size_t i = 0; i < d.size();) {
    std::size_t end = i;  // equal sizes share the mean of their ranks
    while (end < d.size() && std::abs(d[end]) == std::abs(d[i])) ++end;
    const double rank = 0.5 * static_cast<double>(i + 1 + end);
    for (; i < end; ++i) positive += d[i] > 0 ? rank : 0;
  }
  const auto n = static_cast<double>(d.size());
  const double middle = n * (n + 1) / 4, deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
  return std::erfc(std::abs(positive - middle) / deviation / std::sqrt(2.0));
}

}  // namespace bench
