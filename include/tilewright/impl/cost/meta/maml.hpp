// MAML: the slope of the adapted weights' loss by the weights before adapting.
//
// A step of adapting is w' = w - a g(w), so that its derivative is I - a H(w). From the last step
// back to the first, the slope is multiplied by it: one product with a Hessian a step, which costs
// about two backward passes.
#pragma once

#include <tilewright/impl/cost/meta/episode.hpp>

namespace tilewright::cost::detail {

inline meta_slope maml_slope(const layer_vector& head, const episode& e, const meta_options& o) {
  const std::vector<layer_vector> path = adapted(head, e.support, o);
  head_slope last(path.back(), e.query, o.goal);
  layer_vector v = std::move(last.by_weight);
  for (std::size_t step = path.size() - 1; step-- > 0;)
    v -= o.inner_rate * head_curvature(path[step], e.support, o.goal, v);
  return {last.loss, std::move(v)};
}

}  // namespace tilewright::cost::detail
