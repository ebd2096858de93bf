// Where the weights of the graph network lie.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstdint>

#include <tilewright/cost/graph_network.hpp>
#include <tilewright/impl/cost/network/adam.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost::detail {

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

static_assert(2 * hidden == static_cast<Eigen::Index>(embedding_width));

}  // namespace tilewright::cost::detail
