// oneDNN's convolutions in any layout, beside what dense_peer.hpp and onednn_dot.hpp offer.
#pragma once

#include <string>
#include <vector>

#include "peer.hpp"

namespace bench {

/// A convolution of one to three dimensions. Channels last: x [n, d.., c], f [r.., c / groups, k];
/// else x [n, c, d..], f [k, c / groups, r..], and of a transposed one f [c, k / groups, r..]. All
/// row-major; `type` is "float32", or "int8" with sums in int32.
struct convolution {
  bool channels_last = false, transposed = false;
  std::string type = "float32";
  int n = 1, c = 1, k = 1, groups = 1, threads = 1;
  std::vector<int> input, output, window, stride, dilation, padding;  // one per dimension
};

/// Where images lie when oneDNN computes. Weights are always in the layout that it prefers.
enum class onednn_layout {
  users,      // as the user has them
  free,       // as it prefers; conversions are not timed
  converted,  // as it prefers; conversions are timed
};

/// What follows a convolution: a bias per output channel, and max(x, 0).
struct onednn_epilogue {
  const float* bias = nullptr;  // null: nothing
  bool relu = false;
};

/// oneDNN on this convolution. No `run`: oneDNN is not installed or does not offer it.
prepared onednn_convolution(const convolution& v, const void* x, const void* f, void* y,
                            onednn_layout layout = onednn_layout::free,
                            const onednn_epilogue& epilogue = {});

}  // namespace bench
