// Steps of Adam, with a bound on the norm of the gradient.
#pragma once

#include <Eigen/Core>

#include <cmath>

namespace tilewright::cost::detail {

using layer_matrix = Eigen::MatrixXd;
using layer_vector = Eigen::VectorXd;

class adam {
 public:
  adam(Eigen::Index size, double rate, double decay, double clip)
      : rate_(rate),
        decay_(decay),
        clip_(clip),
        first_(layer_vector::Zero(size)),
        second_(layer_vector::Zero(size)) {}

  void step(layer_vector& w, layer_vector gradient) {
    const double norm = gradient.norm();
    if (!std::isfinite(norm)) return;
    if (norm > clip_) gradient *= clip_ / norm;
    ++t_;
    first_ = 0.9 * first_ + 0.1 * gradient;
    second_ = 0.999 * second_ + 0.001 * gradient.cwiseAbs2();
    const double m = 1 - std::pow(0.9, t_), v = 1 - std::pow(0.999, t_);
    w.array() -=
        rate_ * ((first_.array() / m) / ((second_.array() / v).sqrt() + 1e-8) + decay_ * w.array());
  }

 private:
  double rate_, decay_, clip_;
  int t_ = 0;
  layer_vector first_, second_;
};

}  // namespace tilewright::cost::detail
