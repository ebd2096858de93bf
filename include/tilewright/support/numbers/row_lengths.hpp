// How rows of a sparse matrix differ in length, in numbers: what decides which format suits them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::support {

struct row_lengths {
  double mean = 0;     // elements
  double spread = 0;   // standard deviation over the mean (cv)
  double longest = 0;  // row over the mean
  double empty = 0;    // share of rows without elements
  /// Gini coefficient: 0 where all rows are as long, near 1 where few rows have all elements. Rows longer than a
  /// million elements count as that long.
  double gini = 0;
};

/// Takes offsets that were not checked: a row of negative length counts as empty in `gini`.
/// @param offsets [rows + 1], of one row or more, and of one element or more
template <class Index>
row_lengths row_lengths_of(const Index* offsets, std::int64_t rows, std::int64_t elements) {
  row_lengths out;
  const auto count = static_cast<double>(rows);
  out.mean = static_cast<double>(elements) / count;
  const auto length = [&](std::int64_t row) {
    return static_cast<std::int64_t>(offsets[row + 1]) - static_cast<std::int64_t>(offsets[row]);
  };
  constexpr std::int64_t most = std::int64_t{1} << 20;
  double squares = 0;
  std::int64_t longest = 0, empty = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double off = static_cast<double>(length(row)) - out.mean;
    squares += off * off;
    longest = std::max(longest, length(row));
    empty += length(row) == 0;
  }
  out.spread = std::sqrt(squares / count) / out.mean;
  out.longest = static_cast<double>(longest) / out.mean;
  out.empty = static_cast<double>(empty) / count;
  std::vector<std::int64_t> of_length(static_cast<std::size_t>(std::min(longest, most)) + 1, 0);
  for (std::int64_t row = 0; row < rows; ++row)
    ++of_length[static_cast<std::size_t>(std::clamp<std::int64_t>(length(row), 0, most))];
  // twice the area below the curve of shares of elements over shares of rows, the shortest first
  double before = 0, area = 0;
  for (std::size_t l = 0; l < of_length.size(); ++l) {
    const double own = static_cast<double>(of_length[l]) * static_cast<double>(l);
    area += static_cast<double>(of_length[l]) * (2 * before + own);
    before += own;
  }
  out.gini = before > 0 ? 1 - area / (count * before) : 0;
  return out;
}

}  // namespace tilewright::support
