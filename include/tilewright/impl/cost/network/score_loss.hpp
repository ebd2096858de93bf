// What scores of programs of one workload miss of their labels.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <tilewright/cost/gbt.hpp>
#include <tilewright/impl/cost/network/adam.hpp>

namespace tilewright::cost::detail {

/// Loss of scores against labels, and its derivative by each score.
struct score_loss {
  double value = 0;
  layer_vector by_score;

  score_loss(const layer_vector& scores, const std::vector<double>& labels, objective goal)
      : by_score(layer_vector::Zero(scores.size())) {
    goal == objective::squared ? add_squares(scores, labels) : add_pairs(scores, labels);
  }

  /// Second derivatives by the scores.
  static layer_matrix curvature(const layer_vector& scores, const std::vector<double>& labels,
                                objective goal) {
    const Eigen::Index n = scores.size();
    if (goal == objective::squared)
      return layer_matrix::Identity(n, n) * (2 / static_cast<double>(labels.size()));
    layer_matrix out = layer_matrix::Zero(n, n);
    const double whole = sum_of_differences(labels);
    for (Eigen::Index i = 0; i < n && whole > 0; ++i)
      for (Eigen::Index j = 0; j < i; ++j) {
        const double difference =
            std::abs(labels[static_cast<std::size_t>(i)] - labels[static_cast<std::size_t>(j)]);
        const double p = 1 / (1 + std::exp(scores[i] - scores[j]));
        const double bend = difference / whole * p * (1 - p);
        out(i, i) += bend;
        out(j, j) += bend;
        out(i, j) -= bend;
        out(j, i) -= bend;
      }
    return out;
  }

 private:
  static double sum_of_differences(const std::vector<double>& labels) {
    double out = 0;
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) out += std::abs(labels[i] - labels[j]);
    return out;
  }

  void add_squares(const layer_vector& scores, const std::vector<double>& labels) {
    const double n = static_cast<double>(labels.size());
    for (Eigen::Index i = 0; i < scores.size(); ++i) {
      const double rest = scores[i] - labels[static_cast<std::size_t>(i)];
      value += rest * rest / n;
      by_score[i] = 2 * rest / n;
    }
  }

  /// Logistic loss of all pairs, each as important as its labels differ.
  void add_pairs(const layer_vector& scores, const std::vector<double>& labels) {
    const double whole = sum_of_differences(labels);
    if (!(whole > 0)) return;
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double weight = std::abs(labels[i] - labels[j]) / whole;
        if (weight == 0) continue;
        const std::size_t better = labels[i] > labels[j] ? i : j, worse = i + j - better;
        const auto b = static_cast<Eigen::Index>(better), w = static_cast<Eigen::Index>(worse);
        const double margin = scores[b] - scores[w];
        // log(1 + exp(-margin)) without overflow
        value += weight * (std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin))));
        const double slope = -weight / (1 + std::exp(margin));
        by_score[b] += slope;
        by_score[w] -= slope;
      }
  }
};

}  // namespace tilewright::cost::detail
