// oneDNN's convolutions in any layout, beside those of peer.hpp.
#pragma once

#include <functional>
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

/// oneDNN on this convolution in the layouts that it prefers; conversions are not timed. No `run`:
/// oneDNN is not installed or does not offer it.
prepared onednn_convolution(const convolution& v, const void* x, const void* f, void* y);

}  // namespace bench
