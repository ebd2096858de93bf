#pragma once

#include <algorithm>
#include <numeric>

#include <tilewright/support/stable_sort.hpp>

namespace tilewright::support {

TILEWRIGHT_INLINE std::vector<std::size_t> sorted_order(std::size_t count, const void* context,
                                                        bool (*before)(const void* context,
                                                                       std::size_t a,
                                                                       std::size_t b)) {
  std::vector<std::size_t> order(count), merged(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = [](std::vector<std::size_t>& list, std::size_t position) {
    return list.begin() + static_cast<std::ptrdiff_t>(position);
  };
  for (std::size_t width = 1; width < count; width *= 2) {  // sorted runs of `width` are merged
    for (std::size_t begin = 0; begin < count; begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, count);
      const std::size_t end = std::min(middle + width, count);
      std::merge(at(order, begin), at(order, middle), at(order, middle), at(order, end),
                 at(merged, begin),
                 [&](std::size_t a, std::size_t b) { return before(context, a, b); });
    }
    order.swap(merged);
  }
  return order;
}

}  // namespace tilewright::support
