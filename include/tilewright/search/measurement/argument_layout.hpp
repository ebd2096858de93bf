// How the arguments of a function that is measured lie in memory, and what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/measurement/guard.hpp>

namespace tilewright::search {

/// Memory layout of one argument: strides in elements, and where element 0 lies.
struct argument_layout {
  std::vector<std::int64_t> strides;
  placement at;
};

/// Elements of each parameter in row-major order of its extents; an empty entry, or no entry, means
/// values that are made up.
using given_values = std::vector<std::vector<std::byte>>;

}  // namespace tilewright::search
