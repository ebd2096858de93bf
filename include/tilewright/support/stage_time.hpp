// What a stage of a long task took; support/stage_clock.hpp measures it.
#pragma once

#include <cstddef>
#include <string_view>

namespace tilewright::support {

/// Time in a stage.
struct stage_time {
  std::string_view name;  // lives as long as the program
  double seconds = 0;
  std::size_t times = 0;  // how often it was entered
};

}  // namespace tilewright::support
