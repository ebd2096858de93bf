// A layer of a network: relu(from * weights + bias), forward and backward.
#pragma once

#include <tilewright/impl/cost/network/adam.hpp>

namespace tilewright::cost::detail {

using layer_slopes = Eigen::Map<layer_matrix>;
using layer_weights = Eigen::Map<const layer_matrix>;

/// What the units of a layer have before relu; a row for each input.
inline layer_matrix before_relu(const layer_matrix& from, const layer_weights& weights,
                                const layer_weights& bias) {
  return (from * weights).rowwise() + bias.row(0);
}

/// Adds the derivatives by the weights and the bias of a layer to theirs.
/// @param by the derivatives by what the layer gives; its units had `before`
/// @returns those by `from`
inline layer_matrix back_through_relu(const layer_matrix& before, const layer_matrix& from,
                                      const layer_matrix& by, const layer_weights& weights,
                                      layer_slopes by_weights, layer_slopes by_bias) {
  const layer_matrix through = (before.array() > 0).select(by, 0.0);
  by_weights += from.transpose() * through;
  by_bias += through.colwise().sum();
  return through * weights.transpose();
}

}  // namespace tilewright::cost::detail
