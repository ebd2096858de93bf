// How far apart the elements that lanes of a vector read may lie, for whole vectors to be loaded and shuffled together:
// spaces, passes and the back end decide by the same bound.
#pragma once

#include <cstdint>

namespace tilewright::target {

/// Elements from lane to lane up to which loading all that lies between them costs less than an insertion for each lane.
inline constexpr std::int64_t most_lane_step = 4;

}  // namespace tilewright::target
