// First-order MAML: the slope at the adapted weights stands for that at the first ones.
#pragma once

#include <tilewright/impl/cost/meta/episode.hpp>

namespace tilewright::cost::detail {

inline meta_slope fomaml_slope(const layer_vector& head, const episode& e, const meta_options& o) {
  head_slope last(adapted(head, e.support, o).back(), e.query, o.goal);
  return {last.loss, std::move(last.by_weight)};
}

}  // namespace tilewright::cost::detail
