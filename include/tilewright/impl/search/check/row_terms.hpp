// How many terms the sums of sparse rows have, which only the data of a session say.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/measurement/runner.hpp>

namespace tilewright::search::detail {

template <class Index>
std::int64_t longest_row(const void* offsets, std::int64_t rows) {
  const auto* at = static_cast<const Index*>(offsets);
  std::int64_t out = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    out = std::max(out, static_cast<std::int64_t>(at[row + 1]) - at[row]);
  return out;
}

/// `needs` where reductions are as long as the longest row of the session's patterns at least: a program
/// says no more than where a row ends, and two orders of a long sum differ by more than those of a short one.
inline value_needs with_rows(value_needs needs, const runner& r) {
  for (std::size_t i = 0; i < r.operands().size(); ++i) {
    const operand& o = r.operands()[i];
    if (!o.offsets || o.extents.size() != 1) continue;
    const std::int64_t rows = o.extents[0] - 1;
    needs.reduction = std::max(needs.reduction, o.type == dtype::i64
                                                    ? longest_row<std::int64_t>(r.data()[i], rows)
                                                    : longest_row<std::int32_t>(r.data()[i], rows));
  }
  return needs;
}

}  // namespace tilewright::search::detail
