// Windows of which Winograd's algorithm is an alternative, for tests that compare algorithms.
#pragma once

#include <cstdint>

#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/winograd.hpp>

namespace winograd_windows {

/// 3 x 3 of `channels` channels of a square image, as sums and by Winograd's algorithm.
inline tilewright::ir::function windows(std::int64_t size, std::int64_t channels) {
  using namespace tilewright;
  return reify(ops::winograd(ops::conv2d<float, float, ops::conv_options{.padding = 1}>, 1e-3),
               {{"N", 1},
                {"H", size},
                {"W", size},
                {"C", channels},
                {"R", 3},
                {"S", 3},
                {"K", channels},
                {"P", size},
                {"Q", size}});
}

}  // namespace winograd_windows
