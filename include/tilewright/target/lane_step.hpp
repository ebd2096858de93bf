// How far apart the elements that lanes of a vector read may lie: spaces, passes and the back end decide by the same bounds.
#pragma once

#include <cstdint>

namespace tilewright::target {

/// Elements from lane to lane up to which vectors are loaded whole and shuffled together. Points of six numbers, a few
/// products for each, take an eighth of the time that they take without vectors.
inline constexpr std::int64_t most_lane_step = 8;

/// Elements from lane to lane up to which that is as good as a copy of the operand, as another order of its dimensions, or as
/// vectors along another axis. Windows that move in steps of eight take 14 times as long as sums along the window.
inline constexpr std::int64_t cheap_lane_step = 4;

}  // namespace tilewright::target
