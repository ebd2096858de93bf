#pragma once

#include <algorithm>
#include <cmath>

#include <tilewright/expr/formats/sell_matrix.hpp>
#include <tilewright/model/pattern_fingerprint.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/support/numbers/row_lengths.hpp>

namespace tilewright {
namespace detail {

/// Elements of aligned blocks in groups of 16 rows. Each group is looked at whole.
class block_counts {
 public:
  template <class Index>
  void add(const Index* offsets, const Index* indices, std::int64_t first, std::int64_t last) {
    for (std::size_t s = 0; s < sizes.size(); ++s)
      for (std::int64_t row = first; row < last; row += sizes[s])
        add_rows(s, offsets, indices, row, std::min<std::int64_t>(row + sizes[s], last));
  }

  double fill(std::size_t s) const {
    const double places = blocks_[s] * sizes[s] * sizes[s];
    return places > 0 ? elements_[s] / places : 0;
  }
  double in_full(std::size_t s) const { return elements_[s] > 0 ? full_[s] / elements_[s] : 0; }

 private:
  static constexpr auto sizes = pattern_fingerprint::block_sizes;

  template <class Index>
  void add_rows(std::size_t s, const Index* offsets, const Index* indices, std::int64_t first,
                std::int64_t last) {
    columns_.clear();
    for (auto at = offsets[first]; at < offsets[last]; ++at)
      columns_.push_back(static_cast<std::int64_t>(indices[at]) / sizes[s]);
    std::sort(columns_.begin(), columns_.end());
    const auto side = static_cast<std::size_t>(sizes[s]), whole = side * side;
    for (std::size_t at = 0; at < columns_.size();) {
      std::size_t end = at + 1;
      while (end < columns_.size() && columns_[end] == columns_[at]) ++end;
      blocks_[s] += 1;
      elements_[s] += static_cast<double>(end - at);
      if (end - at == whole) full_[s] += static_cast<double>(end - at);
      at = end;
    }
  }

  std::array<double, 3> blocks_{}, elements_{}, full_{};
  std::vector<std::int64_t> columns_;
};

template <class Index>
void measure_rows(const Index* offsets, const Index* indices, pattern_fingerprint& out) {
  const auto rows = static_cast<std::size_t>(out.rows);
  std::vector<std::int64_t> lengths(rows);
  std::array<std::int64_t, 2> first{}, of_halves{};
  const std::int64_t half = (out.columns + 1) / 2;
  for (std::size_t row = 0; row < rows; ++row) {
    lengths[row] = static_cast<std::int64_t>(offsets[row + 1]) - offsets[row];
    const Index* begin = indices + offsets[row];
    const std::int64_t left =
        std::lower_bound(begin, indices + offsets[row + 1], static_cast<Index>(half)) - begin;
    for (std::size_t w = 0; w < out.widths.size(); ++w) {
      const std::int64_t width = out.widths[w], taken = std::min(left, width);
      first[w] += std::min(lengths[row], width);
      of_halves[w] += taken + std::min(lengths[row] - taken, width);
    }
  }
  const support::row_lengths differ = support::row_lengths_of(offsets, out.rows, out.elements);
  out.spread = differ.spread;
  out.longest = differ.longest;
  out.empty = differ.empty;
  out.gini = differ.gini;
  const auto elements = static_cast<double>(out.elements);
  for (std::size_t w = 0; w < out.widths.size(); ++w) {
    out.in_first[w] = static_cast<double>(first[w]) / elements;
    out.in_first_of_halves[w] = static_cast<double>(of_halves[w]) / elements;
  }
  const auto places = [&](int window, int lanes) {
    const auto slices = tilewright::detail::slice_rows(lengths, window, lanes);
    return static_cast<double>(slices.ends.back()) * lanes / elements;
  };
  for (std::size_t k = 0; k < out.lanes.size(); ++k) {
    out.side_by_side[k] = places(out.windows[0], out.lanes[k]);
    out.side_by_side_near[k] = places(out.windows[1], out.lanes[k]);
  }
}

template <class Index>
void measure_elements(const Index* offsets, const Index* indices, pattern_fingerprint& out) {
  constexpr std::int64_t group = 16;
  constexpr double most = 1 << 17;  // elements that are looked at
  const std::int64_t groups = (out.rows + group - 1) / group;
  const auto step =
      static_cast<std::int64_t>(std::max(1.0, std::ceil(static_cast<double>(out.elements) / most)));
  block_counts blocks;
  double gaps = 0, off = 0, counted = 0, steps = 0;
  for (std::int64_t g = 0; g < groups; g += step) {
    const std::int64_t first = g * group, last = std::min(first + group, out.rows);
    blocks.add(offsets, indices, first, last);
    for (std::int64_t row = first; row < last; ++row)
      for (auto at = offsets[row]; at < offsets[row + 1]; ++at) {
        off += std::abs(static_cast<double>(indices[at]) - static_cast<double>(row));
        counted += 1;
        if (at == offsets[row]) continue;
        gaps += static_cast<double>(indices[at] - indices[at - 1]);
        steps += 1;
      }
  }
  out.gap = steps > 0 ? gaps / steps : 1;
  out.off_diagonal = counted > 0 ? off / counted : 1;
  for (std::size_t s = 0; s < out.fill.size(); ++s) {
    out.fill[s] = blocks.fill(s);
    out.in_full_blocks[s] = blocks.in_full(s);
  }
}

template <class Index>
void measure(const pattern_arrays& a, pattern_fingerprint& out) {
  const auto* offsets = static_cast<const Index*>(a.offsets);
  measure_rows(offsets, static_cast<const Index*>(a.indices), out);
  measure_elements(offsets, static_cast<const Index*>(a.indices), out);
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<std::int64_t> pattern_fingerprint::numbers() const {
  const auto scaled = [](double x, double power) {
    return std::max<std::int64_t>(1, std::llround(1e4 * std::pow(std::max(x, 1e-3), power)));
  };
  std::vector<std::int64_t> out{std::max<std::int64_t>(rows, 1),
                                std::max<std::int64_t>(columns, 1),
                                scaled(mean_row, 1),
                                scaled(0.25 + spread, 0.5),
                                scaled(longest, 0.25),
                                scaled(0.25 + empty, 1),
                                scaled(gap, 0.25),
                                scaled(1 + off_diagonal, 0.25)};
  for (const double share : fill) out.push_back(scaled(0.02 + share, 0.5));
  for (const double share : in_full_blocks) out.push_back(scaled(0.05 + share, 0.5));
  for (const double places : side_by_side) out.push_back(scaled(places, 1));
  return out;
}

TILEWRIGHT_INLINE std::string pattern_fingerprint::text() const {
  const auto percent = [](double x) { return support::fixed_text(100 * x, 0) + " %"; };
  std::string out = std::to_string(rows) + " x " + std::to_string(columns) + ", " +
                    support::general_text(mean_row, 3) + " elements a row (longest " +
                    support::fixed_text(longest * mean_row, 0) + "), " + percent(empty) +
                    " empty rows, blocks of ";
  for (std::size_t s = 0; s < fill.size(); ++s)
    out += (s ? ", " : "") + std::to_string(block_sizes[s]) + " " + percent(fill[s]) + " full";
  return out;
}

TILEWRIGHT_INLINE pattern_fingerprint fingerprint_of(const pattern_arrays& a) {
  pattern_fingerprint out;
  out.rows = a.rows;
  out.columns = a.columns;
  out.elements = a.elements;
  if (a.rows < 1 || a.elements < 1) return out;
  out.mean_row = static_cast<double>(a.elements) / static_cast<double>(a.rows);
  if (a.index == dtype::i64)
    detail::measure<std::int64_t>(a, out);
  else
    detail::measure<std::int32_t>(a, out);
  return out;
}

}  // namespace tilewright
