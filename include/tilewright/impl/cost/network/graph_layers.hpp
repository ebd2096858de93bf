// The layers of the graph network: forward over many graphs at once, and backward by hand.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <tilewright/impl/cost/network/dense_head.hpp>

namespace tilewright::cost::detail {

/// A graph without its weights: features standardized, edges normalized.
struct prepared_graph {
  layer_matrix x;                   // [nodes, node_width]; the root is the last node
  std::vector<std::uint8_t> slots;  // [nodes - 1]; none: without a template
  layer_matrix s;                   // [nodes, nodes]
};

/// Programs under the network, with what the way back needs.
class graph_pass {
 public:
  using input = prepared_graph;
  graph_pass(const layer_vector& weights, const std::vector<const prepared_graph*>& graphs)
      : w_(weights), graphs_(graphs) {
    const auto n = static_cast<Eigen::Index>(graphs.size());
    kept_.resize(graphs.size());
    pooled_.setZero(n, 2 * hidden);
    for (std::size_t g = 0; g < graphs.size(); ++g) convolve(g);
    head_.emplace(w_.data() + layout().head(), pooled_);
  }
  graph_pass(const graph_pass&) = delete;
  graph_pass& operator=(const graph_pass&) = delete;

  const layer_vector& scores() const { return head_->scores(); }
  /// What the convolutions make of each graph. // [graphs, embedding_width]
  const layer_matrix& embeddings() const { return pooled_; }

  /// Derivatives by the weights, given those by the scores. Without `convolutions` only the head
  /// has any.
  layer_vector backward(const layer_vector& by_score, bool convolutions) const {
    layer_vector out = layer_vector::Zero(layout().total);
    const layer_matrix by_pooled = head_->backward(by_score, out.data() + layout().head());
    if (!convolutions) return out;
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
    for (std::size_t i = 0; i < graph.slots.size(); ++i)
      by_slot.row(static_cast<Eigen::Index>(i)) =
          l.get(w_, weight_layout::slot1).row(graph.slots[i]);
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
    for (std::size_t i = 0; i < graph.slots.size(); ++i)
      l.get(out, weight_layout::slot1).row(graph.slots[i]) +=
          by_slot.row(static_cast<Eigen::Index>(i));
  }

  const layer_vector& w_;
  std::vector<const prepared_graph*> graphs_;
  std::vector<trail> kept_;
  layer_matrix pooled_;
  std::optional<head_pass> head_;
};

}  // namespace tilewright::cost::detail
