#pragma once

#include <tilewright/model/passes.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE void optimize(graph& g) {
  remove_unused(g);
  fold_constants(g);
  replace_nan(g);
  channels_last(g);
  fuse(g);
  remove_unused(g);
}

}  // namespace tilewright::network
