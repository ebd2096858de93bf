// Where the values of a network live while it runs: one arena, in which values that are never alive
// together share memory.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/config.hpp>

namespace tilewright::network {

/// Memory that is needed from the step that writes it to the last one that reads it, both included.
struct lifetime {
  std::int64_t bytes = 0;
  int first = 0, last = 0;
};

struct memory_plan {
  std::vector<std::int64_t> offsets;  // bytes, multiples of 64, one per lifetime
  std::int64_t size = 0;              // bytes
};

/// Each at the lowest place that no one alive at the same time takes; in what order is tried.
memory_plan plan_memory(const std::vector<lifetime>& values);

/// The largest sum of the sizes that are alive at one step: no plan is smaller.
std::int64_t least_memory(const std::vector<lifetime>& values);

}  // namespace tilewright::network
