// The layers of the graph network: forward over many graphs at once, and backward by hand.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <tilewright/cost/graph_network.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost::detail {

using layer_matrix = Eigen::MatrixXd;
using layer_vector = Eigen::VectorXd;

/// Widths of the network.
inline constexpr Eigen::Index hidden = 64, dense_1 = 64, dense_2 = 32;

/// Where the weights of each layer lie in one vector.
struct weight_layout {
  struct part {
    Eigen::Index at, rows, columns;
    Eigen::Index size() const { return rows * columns; }
  };
  enum name { w1, slot1, b1, w2, b2, gate, gate_bias, d1, e1, d2, e2, d3, e3, parts };
  std::array<part, parts> of{};
  Eigen::Index total = 0;

  weight_layout() {
    const auto add = [&](name n, Eigen::Index rows, Eigen::Index columns) {
      of[n] = {total, rows, columns};
      total += rows * columns;
    };
    add(w1, static_cast<Eigen::Index>(node_width), hidden);
    add(slot1, static_cast<Eigen::Index>(template_slots), hidden);
    add(b1, 1, hidden);
    add(w2, hidden, hidden);
    add(b2, 1, hidden);
    add(gate, hidden, 1);
    add(gate_bias, 1, 1);
    add(d1, 2 * hidden, dense_1);
    add(e1, 1, dense_1);
    add(d2, dense_1, dense_2);
    add(e2, 1, dense_2);
    add(d3, dense_2, 1);
    add(e3, 1, 1);
  }

  /// Weights from here on belong to the dense head.
  Eigen::Index head() const { return of[d1].at; }

  Eigen::Map<const layer_matrix> get(const layer_vector& w, name n) const {
    return {w.data() + of[n].at, of[n].rows, of[n].columns};
  }
  Eigen::Map<layer_matrix> get(layer_vector& w, name n) const {
    return {w.data() + of[n].at, of[n].rows, of[n].columns};
  }
};

inline const weight_layout& layout() {
  static const weight_layout out;
  return out;
}

/// Random weights of the usual size (He et al., 2015), zero biases.
inline layer_vector random_weights(std::uint64_t seed) {
  const weight_layout& l = layout();
  layer_vector out = layer_vector::Zero(l.total);
  support::random draws(seed);
  for (const auto n :
       {weight_layout::w1, weight_layout::slot1, weight_layout::w2, weight_layout::gate,
        weight_layout::d1, weight_layout::d2, weight_layout::d3}) {
    const double size = std::sqrt(6.0 / static_cast<double>(l.of[n].rows));
    for (Eigen::Index i = 0; i < l.of[n].size(); ++i)
      out[l.of[n].at + i] = (2 * draws.unit() - 1) * size;
  }
  return out;
}

/// A graph without its weights: features standardized, edges normalized.
struct prepared_graph {
  layer_matrix x;                   // [nodes, node_width]; the root is the last node
  std::vector<std::uint8_t> slots;  // [nodes - 1]
  layer_matrix s;                   // [nodes, nodes]
};

/// Programs under the network, with what the way back needs.
class graph_pass {
 public:
  graph_pass(const layer_vector& weights, const std::vector<const prepared_graph*>& graphs)
      : w_(weights), graphs_(graphs) {
    const auto n = static_cast<Eigen::Index>(graphs.size());
    kept_.resize(graphs.size());
    pooled_.setZero(n, 2 * hidden);
    for (std::size_t g = 0; g < graphs.size(); ++g) convolve(g);
    const weight_layout& l = layout();
    a1_ = (pooled_ * l.get(w_, weight_layout::d1)).rowwise() + l.get(w_, weight_layout::e1).row(0);
    a2_ = (a1_.cwiseMax(0.0) * l.get(w_, weight_layout::d2)).rowwise() +
          l.get(w_, weight_layout::e2).row(0);
    scores_ = a2_.cwiseMax(0.0) * l.get(w_, weight_layout::d3);
    scores_.array() += l.get(w_, weight_layout::e3)(0, 0);
  }

  const layer_vector& scores() const { return scores_; }

  /// Derivatives by the weights, given those by the scores. Without `convolutions` only the head
  /// has any.
  layer_vector backward(const layer_vector& by_score, bool convolutions) const {
    const weight_layout& l = layout();
    layer_vector out = layer_vector::Zero(l.total);
    const layer_matrix h1 = a1_.cwiseMax(0.0), h2 = a2_.cwiseMax(0.0);
    l.get(out, weight_layout::d3) = h2.transpose() * by_score;
    l.get(out, weight_layout::e3)(0, 0) = by_score.sum();
    layer_matrix g2 = by_score * l.get(w_, weight_layout::d3).transpose();
    g2 = (a2_.array() > 0).select(g2, 0.0);
    l.get(out, weight_layout::d2) = h1.transpose() * g2;
    l.get(out, weight_layout::e2) = g2.colwise().sum();
    layer_matrix g1 = g2 * l.get(w_, weight_layout::d2).transpose();
    g1 = (a1_.array() > 0).select(g1, 0.0);
    l.get(out, weight_layout::d1) = pooled_.transpose() * g1;
    l.get(out, weight_layout::e1) = g1.colwise().sum();
    if (!convolutions) return out;
    const layer_matrix by_pooled = g1 * l.get(w_, weight_layout::d1).transpose();
    for (std::size_t g = 0; g < graphs_.size(); ++g)
      back(g, by_pooled.row(static_cast<Eigen::Index>(g)), out);
    return out;
  }

 private:
  /// What a graph keeps for the way back.
  struct trail {
    layer_matrix sx, p1, sh, p2;        // S X, before relu, S H1, before relu
    layer_vector gates;                 // [loops]
    std::vector<Eigen::Index> largest;  // [hidden], node of the maximum
  };

  void convolve(std::size_t g) {
    const weight_layout& l = layout();
    const prepared_graph& graph = *graphs_[g];
    trail& t = kept_[g];
    const Eigen::Index loops = graph.x.rows() - 1;
    t.sx = graph.s * graph.x;
    layer_matrix by_slot = layer_matrix::Zero(graph.x.rows(), hidden);
    for (Eigen::Index i = 0; i < loops; ++i)
      by_slot.row(i) =
          l.get(w_, weight_layout::slot1).row(graph.slots[static_cast<std::size_t>(i)]);
    t.p1 = (t.sx * l.get(w_, weight_layout::w1) + graph.s * by_slot).rowwise() +
           l.get(w_, weight_layout::b1).row(0);
    t.sh = graph.s * t.p1.cwiseMax(0.0);
    t.p2 = (t.sh * l.get(w_, weight_layout::w2)).rowwise() + l.get(w_, weight_layout::b2).row(0);
    if (loops == 0) return;
    const layer_matrix h = t.p2.topRows(loops).cwiseMax(0.0);
    t.gates = h * l.get(w_, weight_layout::gate);
    t.gates.array() += l.get(w_, weight_layout::gate_bias)(0, 0);
    t.gates = (1 + (-t.gates.array()).exp()).inverse();
    const auto row = static_cast<Eigen::Index>(g);
    pooled_.row(row).head(hidden) = t.gates.transpose() * h / std::sqrt(static_cast<double>(loops));
    t.largest.resize(static_cast<std::size_t>(hidden));
    for (Eigen::Index c = 0; c < hidden; ++c)
      pooled_(row, hidden + c) = h.col(c).maxCoeff(&t.largest[static_cast<std::size_t>(c)]);
  }

  void back(std::size_t g, const Eigen::RowVectorXd& by_pooled, layer_vector& out) const {
    const weight_layout& l = layout();
    const prepared_graph& graph = *graphs_[g];
    const trail& t = kept_[g];
    const Eigen::Index loops = graph.x.rows() - 1;
    if (loops == 0) return;
    const layer_matrix h = t.p2.topRows(loops).cwiseMax(0.0);
    const Eigen::RowVectorXd by_sum =
        by_pooled.head(hidden) / std::sqrt(static_cast<double>(loops));
    const layer_vector by_gate =
        (h * by_sum.transpose()).array() * t.gates.array() * (1 - t.gates.array());
    l.get(out, weight_layout::gate) += h.transpose() * by_gate;
    l.get(out, weight_layout::gate_bias)(0, 0) += by_gate.sum();
    layer_matrix by_p2 = layer_matrix::Zero(graph.x.rows(), hidden);
    by_p2.topRows(loops) = t.gates * by_sum + by_gate * l.get(w_, weight_layout::gate).transpose();
    for (Eigen::Index c = 0; c < hidden; ++c)
      by_p2(t.largest[static_cast<std::size_t>(c)], c) += by_pooled(hidden + c);
    by_p2 = (t.p2.array() > 0).select(by_p2, 0.0);
    l.get(out, weight_layout::w2) += t.sh.transpose() * by_p2;
    l.get(out, weight_layout::b2) += by_p2.colwise().sum();
    layer_matrix by_p1 = graph.s * (by_p2 * l.get(w_, weight_layout::w2).transpose());
    by_p1 = (t.p1.array() > 0).select(by_p1, 0.0);
    l.get(out, weight_layout::w1) += t.sx.transpose() * by_p1;
    l.get(out, weight_layout::b1) += by_p1.colwise().sum();
    const layer_matrix by_slot = graph.s * by_p1;  // s is symmetric
    for (Eigen::Index i = 0; i < loops; ++i)
      l.get(out, weight_layout::slot1).row(graph.slots[static_cast<std::size_t>(i)]) +=
          by_slot.row(i);
  }

  const layer_vector& w_;
  std::vector<const prepared_graph*> graphs_;
  std::vector<trail> kept_;
  layer_matrix pooled_, a1_, a2_;
  layer_vector scores_;
};

/// Adam with a bound on the norm of the gradient.
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
