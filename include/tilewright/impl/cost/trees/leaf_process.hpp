// A Gaussian process over the leaves that programs of one workload come to.
//
// Its mean is a line in the score of the trees, its kernel the mean over the trees of the product of
// shares: 1 for programs that every tree sends to the same leaves. That kernel is linear in the places,
// so that what was learned is one weight for each leaf, and a prediction costs as much as a sum of trees.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/impl/cost/trees/leaf_space.hpp>

namespace tilewright::cost::detail {

class leaf_process {
 public:
  /// Programs that were measured; times are positive and finite.
  void add(const leaf_place& at, double seconds, const leaf_space& space) {
    std::vector<float> dense(space.leaves(), 0.0F);
    for (const auto& p : at.parts) dense[p.leaf] = p.share;
    std::vector<double> row;
    for (const leaf_place& other : places_) row.push_back(product(other, dense) / trees(space));
    row.push_back(product(at, dense) / trees(space) + noise);
    append(std::move(row));
    places_.push_back(at);
    seconds_.push_back(seconds);
  }

  std::size_t size() const { return places_.size(); }
  const leaf_place& place(std::size_t i) const { return places_[i]; }
  double seconds(std::size_t i) const { return seconds_[i]; }

  /// Learns what was added. Requires: there is at least one program.
  void fit(const leaf_space& space) {
    const std::size_t n = size();
    const double best = *std::min_element(seconds_.begin(), seconds_.end());
    std::vector<double> labels(n);
    for (std::size_t i = 0; i < n; ++i) labels[i] = best / seconds_[i];
    fit_line(labels);
    for (std::size_t i = 0; i < n; ++i) labels[i] -= line(places_[i].score);
    solve(labels);
    weights_.assign(space.leaves(), 0.0F);
    for (std::size_t i = 0; i < n; ++i)
      for (const auto& p : places_[i].parts)
        weights_[p.leaf] += static_cast<float>(labels[i] / trees(space)) * p.share;
  }

  /// The expected label: the best time of the workload over that of the program.
  double operator()(const leaf_place& at) const { return line(at.score) + product(at, weights_); }

 private:
  // of a label, beside the variance of the process, which is 1: the ratio alone matters
  static constexpr double noise = 0.05;

  static double trees(const leaf_space& space) {
    return static_cast<double>(std::max<std::size_t>(space.trees(), 1));
  }
  static double product(const leaf_place& at, const std::vector<float>& dense) {
    float out = 0;
    for (const auto& p : at.parts) out += p.share * dense[p.leaf];
    return static_cast<double>(out);
  }

  double line(double score) const { return label_ + slope_ * (score - score_); }

  /// The slope follows the correlation that was seen, after four programs in which it were 0.5.
  void fit_line(const std::vector<double>& labels) {
    const auto n = static_cast<double>(size());
    label_ = score_ = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      label_ += labels[i] / n;
      score_ += places_[i].score / n;
    }
    double ss = 0, sy = 0, yy = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double s = places_[i].score - score_, y = labels[i] - label_;
      ss += s * s;
      sy += s * y;
      yy += y * y;
    }
    slope_ = 0;
    if (!(ss > 1e-12) || !(yy > 1e-18)) return;
    constexpr double trust = 0.5, seen = 4;
    const double correlation = (n * sy / std::sqrt(ss * yy) + seen * trust) / (n + seen);
    slope_ = std::max(correlation, 0.0) * std::sqrt(yy / ss);
  }

  /// A row more of the lower Cholesky factor of the kernel's matrix; the last number is the diagonal.
  void append(std::vector<double> row) {
    const std::size_t n = row.size() - 1;
    for (std::size_t j = 0; j <= n; ++j) {
      const std::vector<double>& other = j < n ? factor_[j] : row;
      for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * other[k];
      row[j] = j < n ? row[j] / other[j] : std::sqrt(std::max(row[j], 1e-9));
    }
    factor_.push_back(std::move(row));
  }

  void solve(std::vector<double>& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= factor_[i][k] * x[k];
      x[i] /= factor_[i][i];
    }
    for (std::size_t i = x.size(); i-- > 0;) {
      x[i] /= factor_[i][i];
      for (std::size_t k = 0; k < i; ++k) x[k] -= factor_[i][k] * x[i];
    }
  }

  std::vector<leaf_place> places_;
  std::vector<double> seconds_;
  std::vector<std::vector<double>> factor_;  // [programs, its own number + 1]
  double label_ = 0, score_ = 0, slope_ = 0;
  std::vector<float> weights_;  // [leaves]
};

}  // namespace tilewright::cost::detail
