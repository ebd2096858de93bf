#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <tilewright/dispatch/pattern_class.hpp>
#include <tilewright/support/numbers/row_lengths.hpp>

namespace tilewright::dispatch {
namespace detail {

/// Of a few thousand steps between neighbours, anywhere; those to the next row go backwards.
template <class Index>
double mean_gap(const Index* indices, std::int64_t nonzeros) {
  double gaps = 0;
  std::int64_t counted = 0;
  const std::int64_t step = std::max<std::int64_t>(1, nonzeros / 4096);
  for (std::int64_t k = 0; indices && k + 1 < nonzeros; k += step) {
    const double gap = static_cast<double>(indices[k + 1]) - static_cast<double>(indices[k]);
    if (gap <= 0) continue;
    gaps += gap;
    ++counted;
  }
  return counted ? gaps / static_cast<double>(counted) : 1;
}

template <class Index>
std::string pattern_class(const Index* offsets, const Index* indices, std::int64_t rows,
                          std::int64_t nonzeros) {
  if (!offsets || rows < 1 || nonzeros < 1) return {};
  const support::row_lengths lengths = support::row_lengths_of(offsets, rows, nonzeros);
  const auto logarithm = [](double x) {
    return std::to_string(static_cast<int>(std::lround(std::log2(std::max(x, 1.0)))));
  };
  return "l" + logarithm(lengths.mean) + "v" +
         std::to_string(std::lround(2 * std::min(lengths.spread, 1000.0))) + "e" +
         std::to_string(static_cast<int>(10 * lengths.empty)) + "g" +
         logarithm(mean_gap(indices, nonzeros));
}

template <class Index>
ir::pattern_note note_of(const call_argument& offset_data, const call_argument& index_data) {
  const auto* offsets = static_cast<const Index*>(offset_data.data);
  const std::int64_t rows = offset_data.extents[0] - 1, nonzeros = index_data.extents[0];
  ir::pattern_note out;
  out.gap = mean_gap(static_cast<const Index*>(index_data.data), nonzeros);
  if (!offsets || rows < 1 || nonzeros < 1) return out;
  const support::row_lengths lengths = support::row_lengths_of(offsets, rows, nonzeros);
  out.mean_row = lengths.mean;
  out.spread = lengths.spread;
  out.longest = lengths.longest;
  out.empty = lengths.empty;
  out.gini = lengths.gini;
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string pattern_class(const search::operand& offsets,
                                            const call_argument& offset_data,
                                            const call_argument& index_data) {
  const bool listed = &index_data != &offset_data;  // else rows are counted
  const std::int64_t rows = offset_data.extents[0] - 1;
  const std::int64_t nonzeros = listed ? index_data.extents[0] : offsets.offsets->last;
  const void* indices = listed ? index_data.data : nullptr;
  if (offsets.type == dtype::i64)
    return detail::pattern_class(static_cast<const std::int64_t*>(offset_data.data),
                                 static_cast<const std::int64_t*>(indices), rows, nonzeros);
  return detail::pattern_class(static_cast<const std::int32_t*>(offset_data.data),
                               static_cast<const std::int32_t*>(indices), rows, nonzeros);
}

TILEWRIGHT_INLINE ir::pattern_note pattern_note_of(const search::operand& offsets,
                                                   const call_argument& offset_data,
                                                   const call_argument& index_data) {
  if (offsets.type == dtype::i64) return detail::note_of<std::int64_t>(offset_data, index_data);
  return detail::note_of<std::int32_t>(offset_data, index_data);
}

}  // namespace tilewright::dispatch
