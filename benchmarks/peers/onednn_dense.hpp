// oneDNN on dense workloads.
#pragma once

#include "dense_peer.hpp"

namespace bench {

/// No `run`: oneDNN does not offer it, or offers it in the user's layout alone, which is named so.
prepared onednn_dense(const dense_shape& shape, addresses at, int threads, onednn_layout layout);

}  // namespace bench
