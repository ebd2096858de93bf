// Reptile: the way from the weights to the adapted ones takes the place of a slope.
//
// It adapts to all programs of an episode, since none of them judges.
#pragma once

#include <tilewright/impl/cost/meta/episode.hpp>

namespace tilewright::cost::detail {

inline meta_slope reptile_slope(const layer_vector& head, const episode& e, const meta_options& o) {
  const layer_vector middle = adapted(head, e.support, o).back(),
                     last = adapted(middle, e.query, o).back();
  // per step, as a gradient is
  const double scale = 1 / (o.inner_rate * 2 * std::max(o.inner_steps, 1));
  return {head_slope(middle, e.query, o.goal).loss, (head - last) * scale};
}

}  // namespace tilewright::cost::detail
