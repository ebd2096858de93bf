#pragma once

#include <tilewright/model/passes.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE void optimize(graph& g) {
  remove_unused(g);
  fold_constants(g);
  replace_nan(g);
  scale_products(g);
  channels_last(g);
  group_attention(g);
  fuse(g);
  place_parts(g);
  remove_unused(g);
}

}  // namespace tilewright::network
