#pragma once

#include <algorithm>
#include <numeric>

#include <tilewright/expr/formats/sell_matrix.hpp>

namespace tilewright::detail {

TILEWRIGHT_INLINE row_slices slice_rows(const std::vector<std::int64_t>& lengths,
                                        std::int64_t window, int lanes) {
  const auto rows = static_cast<std::int64_t>(lengths.size());
  const auto length = [&](std::int64_t row) { return lengths[static_cast<std::size_t>(row)]; };
  std::vector<std::int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t first = 0; first < rows; first += std::min(window, rows - first))
    std::sort(order.begin() + first, order.begin() + first + std::min(window, rows - first),
              [&](std::int64_t one, std::int64_t other) {
                return length(one) != length(other) ? length(one) > length(other) : one < other;
              });
  row_slices out;
  out.places.resize(lengths.size());
  out.ends.assign(1, 0);
  for (std::int64_t p = 0; p < rows; ++p) {
    const std::int64_t row = order[static_cast<std::size_t>(p)];
    out.places[static_cast<std::size_t>(row)] = p;
    if (p % lanes == 0) out.ends.push_back(out.ends.back());
    const std::int64_t begin = out.ends[out.ends.size() - 2];
    out.ends.back() = std::max(out.ends.back(), begin + length(row));
  }
  return out;
}

}  // namespace tilewright::detail
