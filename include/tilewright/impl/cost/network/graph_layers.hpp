// The layers of the graph network: forward over many graphs at once, and backward by hand. The nodes of
// all graphs are the rows of one matrix; only what follows edges goes graph by graph.
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
  layer_matrix s;                   // [nodes, nodes], symmetric
};

/// Programs under the network, with what the way back needs.
class graph_pass {
 public:
  using input = prepared_graph;
  using last_layers = head_pass;
  /// Where the weights of the last layers begin.
  static Eigen::Index last() { return layout().head(); }

  graph_pass(const layer_vector& weights, const std::vector<const prepared_graph*>& graphs)
      : w_(weights), graphs_(graphs) {
    gather();
    convolve();
    pooled_.setZero(static_cast<Eigen::Index>(graphs.size()), 2 * hidden);
    gates_.setZero(x_.rows());
    largest_.resize(graphs.size() * static_cast<std::size_t>(hidden));
    for (std::size_t g = 0; g < graphs.size(); ++g) pool(g);
    head_.emplace(w_.data() + last(), pooled_);
  }
  graph_pass(const graph_pass&) = delete;
  graph_pass& operator=(const graph_pass&) = delete;

  const layer_vector& scores() const { return head_->scores(); }
  /// What the convolutions make of each graph. // [graphs, embedding_width]
  const layer_matrix& embeddings() const { return pooled_; }

  /// Derivatives by the weights, given those by the scores. Without `convolutions` only the head
  /// has any.
  layer_vector backward(const layer_vector& by_score, bool convolutions) const {
    const weight_layout& l = layout();
    layer_vector out = layer_vector::Zero(l.total);
    const layer_matrix by_pooled = head_->backward(by_score, out.data() + last());
    if (!convolutions) return out;
    layer_matrix by_p2 = layer_matrix::Zero(x_.rows(), hidden);
    for (std::size_t g = 0; g < graphs_.size(); ++g)
      unpool(g, by_pooled.row(static_cast<Eigen::Index>(g)), by_p2, out);
    by_p2 = (p2_.array() > 0).select(by_p2, 0.0).eval();
    l.get(out, weight_layout::w2).noalias() = sh_.transpose() * by_p2;
    l.get(out, weight_layout::b2) = by_p2.colwise().sum();
    layer_matrix by_p1 = along_edges(by_p2 * l.get(w_, weight_layout::w2).transpose());
    by_p1 = (p1_.array() > 0).select(by_p1, 0.0).eval();
    l.get(out, weight_layout::b1) = by_p1.colwise().sum();
    const layer_matrix by_node = along_edges(by_p1);
    l.get(out, weight_layout::w1).noalias() = x_.transpose() * by_node;
    auto by_slot = l.get(out, weight_layout::slot1);
    for (Eigen::Index c = 0; c < hidden; ++c)
      for (const slotted& s : slots_) by_slot(s.slot, c) += by_node(s.row, c);
    return out;
  }

 private:
  /// A node that stands in a slot of the template.
  struct slotted {
    Eigen::Index row, slot;
  };

  /// The nodes of all graphs one after the other.
  void gather() {
    Eigen::Index rows = 0;
    for (const prepared_graph* g : graphs_) {
      first_.push_back(rows);
      for (std::size_t i = 0; i < g->slots.size(); ++i)
        slots_.push_back({rows + static_cast<Eigen::Index>(i), g->slots[i]});
      rows += g->x.rows();
    }
    x_.resize(rows, static_cast<Eigen::Index>(node_width));
    for (std::size_t g = 0; g < graphs_.size(); ++g)
      x_.middleRows(first_[g], graphs_[g]->x.rows()) = graphs_[g]->x;
  }

  void convolve() {
    const weight_layout& l = layout();
    layer_matrix by_node = x_ * l.get(w_, weight_layout::w1);
    const auto of_slot = l.get(w_, weight_layout::slot1);
    for (Eigen::Index c = 0; c < hidden; ++c)
      for (const slotted& s : slots_) by_node(s.row, c) += of_slot(s.slot, c);
    p1_ = along_edges(by_node);
    p1_.rowwise() += l.get(w_, weight_layout::b1).row(0);
    sh_ = along_edges(p1_.cwiseMax(0.0));
    p2_.noalias() = sh_ * l.get(w_, weight_layout::w2);
    p2_.rowwise() += l.get(w_, weight_layout::b2).row(0);
  }

  /// S times the rows of each graph; S is symmetric, so that this is the way back, too.
  layer_matrix along_edges(const layer_matrix& rows) const {
    layer_matrix out(rows.rows(), rows.cols());
    for (std::size_t g = 0; g < graphs_.size(); ++g) {
      const Eigen::Index n = graphs_[g]->s.rows();
      out.middleRows(first_[g], n).noalias() = graphs_[g]->s * rows.middleRows(first_[g], n);
    }
    return out;
  }

  void pool(std::size_t g) {
    const weight_layout& l = layout();
    const Eigen::Index loops = graphs_[g]->x.rows() - 1;
    if (loops == 0) return;
    const layer_matrix h = p2_.middleRows(first_[g], loops).cwiseMax(0.0);
    layer_vector gates = h * l.get(w_, weight_layout::gate);
    gates.array() += l.get(w_, weight_layout::gate_bias)(0, 0);
    gates = (1 + (-gates.array()).exp()).inverse().eval();
    gates_.segment(first_[g], loops) = gates;
    const auto row = static_cast<Eigen::Index>(g);
    pooled_.row(row).head(hidden) = gates.transpose() * h / std::sqrt(static_cast<double>(loops));
    for (Eigen::Index c = 0; c < hidden; ++c)
      pooled_(row, hidden + c) = h.col(c).maxCoeff(&largest_[largest(g, c)]);
  }

  void unpool(std::size_t g, const Eigen::RowVectorXd& by_pooled, layer_matrix& by_p2,
              layer_vector& out) const {
    const weight_layout& l = layout();
    const Eigen::Index loops = graphs_[g]->x.rows() - 1;
    if (loops == 0) return;
    const layer_matrix h = p2_.middleRows(first_[g], loops).cwiseMax(0.0);
    const layer_vector gates = gates_.segment(first_[g], loops);
    const Eigen::RowVectorXd by_sum =
        by_pooled.head(hidden) / std::sqrt(static_cast<double>(loops));
    const layer_vector by_gate =
        (h * by_sum.transpose()).array() * gates.array() * (1 - gates.array());
    l.get(out, weight_layout::gate) += h.transpose() * by_gate;
    l.get(out, weight_layout::gate_bias)(0, 0) += by_gate.sum();
    by_p2.middleRows(first_[g], loops) =
        gates * by_sum + by_gate * l.get(w_, weight_layout::gate).transpose();
    for (Eigen::Index c = 0; c < hidden; ++c)
      by_p2(first_[g] + largest_[largest(g, c)], c) += by_pooled(hidden + c);
  }

  static std::size_t largest(std::size_t g, Eigen::Index c) {
    return g * static_cast<std::size_t>(hidden) + static_cast<std::size_t>(c);
  }

  const layer_vector& w_;
  std::vector<const prepared_graph*> graphs_;
  std::vector<Eigen::Index> first_;  // [graphs], row of their first node
  std::vector<slotted> slots_;
  layer_matrix x_, p1_, sh_, p2_;      // [nodes of all graphs, ...]: features; before relu; S H1
  layer_vector gates_;                 // [nodes of all graphs]
  std::vector<Eigen::Index> largest_;  // [graphs, hidden], loop of the maximum
  layer_matrix pooled_;
  std::optional<head_pass> head_;
};

}  // namespace tilewright::cost::detail
