// The policy of ppo: which way each number of a trace is turned, and what a trace is worth.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/impl/cost/network/adam.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search::detail {

/// Ways to turn a number: smaller, not at all, larger.
inline constexpr Eigen::Index turns = 3;

/// A step that was walked.
struct walked_step {
  std::vector<double> state;
  std::vector<std::uint8_t> action;  // [numbers], below `turns`
  double log_probability = 0;        // of the action, when it was drawn
  double base = 0;                   // what the state was thought to be worth then
  double gain = 0;                   // discounted rewards from here on
};

struct policy_loss_options {
  double clip, entropy;
};

class policy_network {
 public:
  policy_network(std::size_t inputs, std::size_t numbers, double stay, double rate,
                 std::uint64_t seed)
      : inputs_(static_cast<Eigen::Index>(inputs)),
        numbers_(static_cast<Eigen::Index>(numbers)),
        steps_(size(), rate, 0, 0.5) {
    w_ = vector::Zero(size());
    support::random draws(seed);
    const double scale = std::sqrt(3.0 / static_cast<double>(std::max<std::size_t>(inputs, 1)));
    for (Eigen::Index i = 0; i < inputs_ * width; ++i) w_[i] = (2 * draws.unit() - 1) * scale;
    for (Eigen::Index n = 0; n < numbers_; ++n) w_[logit_bias() + n * turns + 1] = stay;
  }

  /// Draws an action; the logarithm of its probability goes to `log_probability`.
  std::vector<std::uint8_t> act(const std::vector<double>& state, support::random& r,
                                double& log_probability) const {
    const look at(*this, state);
    std::vector<std::uint8_t> out;
    log_probability = 0;
    for (Eigen::Index n = 0; n < numbers_; ++n) {
      double ticket = r.unit();
      Eigen::Index turn = 0;
      while (turn + 1 < turns && ticket >= at.p(n, turn)) ticket -= at.p(n, turn++);
      log_probability += std::log(std::max(at.p(n, turn), 1e-12));
      out.push_back(static_cast<std::uint8_t>(turn));
    }
    return out;
  }

  double value(const std::vector<double>& state) const { return look(*this, state).value; }
  /// Probability of each turn of number `n`.
  double probability(const std::vector<double>& state, std::size_t n, std::size_t turn) const {
    return look(*this, state).p(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(turn));
  }

  /// The clipped loss of PPO plus half the squared error of the value minus the weighted entropy,
  /// mean over the steps; its derivatives by the weights go to `slope` unless it is null.
  double loss(const std::vector<walked_step>& walked, const policy_loss_options& o,
              cost::detail::layer_vector* slope) const {
    if (slope) slope->setZero(size());
    double out = 0;
    const double share = 1 / static_cast<double>(walked.size());
    for (const walked_step& s : walked) out += share * loss(s, o, share, slope);
    return out;
  }

  void learn(const std::vector<walked_step>& walked, const policy_loss_options& o) {
    cost::detail::layer_vector slope;
    loss(walked, o, &slope);
    steps_.step(w_, std::move(slope));
  }

  cost::detail::layer_vector& weights() { return w_; }

 private:
  using vector = cost::detail::layer_vector;
  using matrix = cost::detail::layer_matrix;
  static constexpr Eigen::Index width = 48;

  // all weights in one vector: hidden layer, its bias, logits, their bias, value, its bias
  Eigen::Index hidden_bias() const { return inputs_ * width; }
  Eigen::Index logits() const { return hidden_bias() + width; }
  Eigen::Index logit_bias() const { return logits() + width * numbers_ * turns; }
  Eigen::Index value_weights() const { return logit_bias() + numbers_ * turns; }
  Eigen::Index size() const { return value_weights() + width + 1; }

  Eigen::Map<const matrix> part(Eigen::Index at, Eigen::Index rows, Eigen::Index columns) const {
    return {w_.data() + at, rows, columns};
  }

  /// The network at one state.
  struct look {
    vector x, before, hidden;
    matrix p;  // [numbers, turns]
    double value;

    look(const policy_network& n, const std::vector<double>& state)
        : x(Eigen::Map<const vector>(state.data(), static_cast<Eigen::Index>(state.size()))) {
      before = n.part(0, n.inputs_, width).transpose() * x + n.w_.segment(n.hidden_bias(), width);
      hidden = before.cwiseMax(0.0);
      const vector logits = n.part(n.logits(), width, n.numbers_ * turns).transpose() * hidden +
                            n.w_.segment(n.logit_bias(), n.numbers_ * turns);
      p = Eigen::Map<const matrix>(logits.data(), turns, n.numbers_).transpose();
      for (Eigen::Index i = 0; i < p.rows(); ++i) {
        p.row(i) = (p.row(i).array() - p.row(i).maxCoeff()).exp();
        p.row(i) /= p.row(i).sum();
      }
      value = n.w_.segment(n.value_weights(), width).dot(hidden) + n.w_[n.size() - 1];
    }
  };

  double loss(const walked_step& s, const policy_loss_options& o, double share,
              vector* slope) const {
    const look at(*this, s.state);
    double log_p = 0, entropy = 0;
    for (Eigen::Index n = 0; n < numbers_; ++n) {
      log_p += std::log(std::max(at.p(n, s.action[static_cast<std::size_t>(n)]), 1e-12));
      entropy -= (at.p.row(n).array() * at.p.row(n).array().max(1e-12).log()).sum();
    }
    const double ratio = std::exp(std::clamp(log_p - s.log_probability, -20.0, 20.0));
    const double advantage = s.gain - s.base;
    const double free = ratio * advantage,
                 held = std::clamp(ratio, 1 - o.clip, 1 + o.clip) * advantage;
    const double error = at.value - s.gain;
    if (slope) {
      const double by_log_p = free <= held ? -advantage * ratio : 0;
      vector by_logit(numbers_ * turns);
      for (Eigen::Index n = 0; n < numbers_; ++n) {
        const double own =
            -(at.p.row(n).array() * at.p.row(n).array().max(1e-12).log()).sum();  // entropy
        for (Eigen::Index t = 0; t < turns; ++t) {
          const double p = at.p(n, t);
          const double chosen = t == s.action[static_cast<std::size_t>(n)] ? 1 : 0;
          by_logit[n * turns + t] =
              by_log_p * (chosen - p) + o.entropy * p * (std::log(std::max(p, 1e-12)) + own);
        }
      }
      by_logit *= share;
      const double by_value = share * error;
      Eigen::Map<matrix>(slope->data() + logits(), width, numbers_ * turns) +=
          at.hidden * by_logit.transpose();
      slope->segment(logit_bias(), numbers_ * turns) += by_logit;
      slope->segment(value_weights(), width) += by_value * at.hidden;
      (*slope)[size() - 1] += by_value;
      vector by_hidden = part(logits(), width, numbers_ * turns) * by_logit +
                         by_value * w_.segment(value_weights(), width);
      by_hidden = (at.before.array() > 0).select(by_hidden, 0.0);
      Eigen::Map<matrix>(slope->data(), inputs_, width) += at.x * by_hidden.transpose();
      slope->segment(hidden_bias(), width) += by_hidden;
    }
    return -std::min(free, held) + 0.5 * error * error - o.entropy * entropy;
  }

  Eigen::Index inputs_, numbers_;
  vector w_;
  cost::detail::adam steps_;
};

}  // namespace tilewright::search::detail
