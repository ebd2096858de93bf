// Where lanes at known places near each other lie, and the vectors that hold them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilewright::backend::llvm::detail::near_parts {

/// Where lanes lie, and the vectors that hold them.
struct near_lanes {
  std::vector<std::int64_t> element;  // of each lane, counted from the first one in memory
  std::vector<std::int64_t> reader;   // of each element: a lane; without one: the number of lanes
  std::int64_t span = 0;              // elements from the first to the last
  bool shared = false;                // two lanes read one element

  explicit near_lanes(std::vector<std::int64_t> distances) : element(std::move(distances)) {
    const auto [low, high] = std::minmax_element(element.begin(), element.end());
    const std::int64_t first = *low;
    span = *high - first + 1;
    for (std::int64_t& e : element) e -= first;
  }
  std::int64_t lanes() const { return static_cast<std::int64_t>(element.size()); }
  std::int64_t parts() const { return (span + lanes() - 1) / lanes(); }
  /// First element of a part; the last one ends with the last element.
  std::int64_t begin(std::int64_t part) const {
    return std::max<std::int64_t>(0, std::min(part * lanes(), span - lanes()));
  }
  void find_readers() {
    reader.assign(static_cast<std::size_t>(std::max(span, lanes())), lanes());
    for (std::size_t i = 0; i < element.size(); ++i) {
      std::int64_t& whose = reader[static_cast<std::size_t>(element[i])];
      shared = shared || whose != lanes();
      whose = static_cast<std::int64_t>(i);
    }
  }
  /// Positions in what the parts before have made and in this part, one behind the other.
  std::vector<std::int64_t> taken(std::int64_t part) const {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < lanes(); ++i) {
      const std::int64_t e = element[static_cast<std::size_t>(i)];
      if (part > 0 && e / lanes() == part)
        out.push_back(lanes() + e - begin(part));
      else
        out.push_back(part <= 1 && e < lanes() ? e : i);
    }
    return out;
  }
};

}  // namespace tilewright::backend::llvm::detail::near_parts
