// The format that a pattern asks for before anything is measured, and what formats would take.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <tilewright/impl/model/formats/known_format.hpp>
#include <tilewright/model/pattern_fingerprint.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::detail {

/// Formats are compared by what they are expected to take.
struct format_estimate {
  double places = 1;    // for each element
  double seconds = 0;   // of a call
  double converts = 0;  // s
  double bytes = 0;     // of its arrays
  double moved = 0;     // bytes of the values that a call brings to its places
  bool whole = false;   // parts of which blocks take all, so that nothing is left for the others
};

/// Seconds of a call for the elements in blocks of one size, of the others, and of all rows.
///
/// The constants are those of one core of 4 GHz with vectors of 512 bits, fitted to what sessions found for seven
/// matrices; only their ratios matter. For one column a call waits for elements of the other operand, longer where
/// the second cache does not hold them, and for the ends of rows, which nothing predicts unless all rows are as
/// long. For several columns each element multiplies vectors; blocks read these once for several rows, and rows of
/// one width take twice as long as compressed ones, since their sums go through memory.
class format_costs {
 public:
  /// @param columns of the other operand: products for each element
  /// @param element bytes of one
  format_costs(const pattern_fingerprint& p, double columns, int element)
      : p_(p), vector_(columns < 4), vectors_(std::max(1.0, columns / 16)), element_(element) {}

  double rows(double elements) const {
    const auto count = static_cast<double>(p_.rows);
    if (vector_) {
      const double surprise = std::min(1.0, 3 * p_.spread);
      return 1e-9 *
             (elements * (0.29 + 0.5 * miss()) + count * (1 - p_.empty) * (0.5 + 7.5 * surprise));
    }
    return 1e-9 * (elements * (0.4 * vectors_ + 0.15) + count * (0.3 * vectors_ + 4));
  }
  double side_by_side(double places) const {
    const auto elements = static_cast<double>(p_.elements), count = static_cast<double>(p_.rows);
    if (vector_) return 1e-9 * (elements * places * (0.19 + miss()) + count * 0.6);
    return 1e-9 * (elements * (0.2 + 0.4 * places) * vectors_ * 1.5 + count * (0.5 * vectors_ + 5));
  }
  /// @param rest elements that are left in compressed rows of which only those with elements are there
  double one_width(double places, double rest, int parts) const {
    const auto count = static_cast<double>(p_.rows);
    const double each = 0.8 * vectors_ + (vector_ ? 0 : 0.2);
    const double left = std::min(rest, count);  // rows
    return 1e-9 * (places * each + count * parts * (0.3 * vectors_ + 1)) +
           1e-9 * (rest * (0.4 * vectors_ + 0.15) + left * (0.3 * vectors_ + 5));
  }
  double blocks(double elements, int size) const {
    const double each = vector_ ? 0.04 + 0.5 / size : 0.25 * vectors_ + 0.4 / size;
    return 1e-9 * (elements * each + static_cast<double>(p_.rows) / size * 5);
  }

 private:
  /// Of the cache, for an element of one column, the longer the farther they lie apart. // ns
  double miss() const {
    constexpr double cache = 1 << 20;  // bytes, the second one
    const double apart = std::log2(std::max(1.0, p_.gap / 16));
    return static_cast<double>(p_.columns) * element_ <= cache ? std::min(0.1, 0.012 * apart)
                                                               : std::min(0.45, 0.06 * apart);
  }

  const pattern_fingerprint& p_;
  bool vector_;
  double vectors_;
  int element_;
};

/// Seconds that a call takes to bring the values of elements to their places in a format, or back, fitted likewise.
inline double moving_seconds(const pattern_fingerprint& p, const format_estimate& e) {
  return 0.8e-9 * static_cast<double>(p.elements) * e.places;
}

template <std::size_t Count>
std::size_t size_number(const std::array<int, Count>& sizes, int size) {
  return static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), size) - sizes.begin());
}

/// @param f null: compressed rows
/// @param element bytes of one
/// @param moved bytes of what a call brings to each place
inline format_estimate estimate(const pattern_fingerprint& p, const known_format* f, double columns,
                                int element, int index_bytes, double moved) {
  const format_costs cost(p, columns, element);
  const auto elements = static_cast<double>(p.elements), rows = static_cast<double>(p.rows);
  format_estimate out;
  const double each = element + index_bytes, at_rows = (rows + 1) * index_bytes;
  constexpr double conversion = 2e-8;  // s for a place
  out.seconds = cost.rows(elements);
  out.bytes = elements * each + at_rows;
  if (!f) return out;
  if (f->form.storage == dim_storage::sell) {
    const auto& places = f->window() == p.windows[0] ? p.side_by_side : p.side_by_side_near;
    out.places = places[size_number(p.lanes, f->form.group)];
    out.seconds = cost.side_by_side(out.places);
    out.bytes = elements * out.places * each + 3 * at_rows;
  } else if (const int width = f->width()) {
    const auto& taken_by = f->column_parts() > 1 ? p.in_first_of_halves : p.in_first;
    const double in_rows = rows * width * f->column_parts(),
                 taken = taken_by[size_number(p.widths, width)] * elements;
    out.places = (in_rows + elements - taken) / elements;
    out.seconds = cost.one_width(in_rows, elements - taken, f->column_parts());
    out.bytes = elements * out.places * each + at_rows;
  } else {
    const int size = f->block();
    const std::size_t s = size_number(p.block_sizes, size);
    const bool parts = f->form.storage == dim_storage::parts;
    const double in_blocks = parts ? p.in_full_blocks[s] * elements : elements;
    out.whole = parts && p.in_full_blocks[s] >= 1;
    out.places = parts ? 1 : 1 / std::max(p.fill[s], 1e-3);
    out.seconds =
        cost.blocks(in_blocks * out.places, size) + (parts ? cost.rows(elements - in_blocks) : 0);
    out.bytes =
        in_blocks * out.places * (element + static_cast<double>(index_bytes) / (size * size)) +
        (elements - in_blocks) * each + 2 * at_rows;
  }
  out.converts = elements * out.places * conversion;
  out.moved = elements * out.places * moved;
  return out;
}

/// Why a format is left out before it is made: what it would take, as far as a fingerprint tells; empty
/// where it may be made.
/// @param most bytes that arrays and moved values may take
inline std::string why_not(const format_estimate& e, const format_estimate& rows, double most) {
  constexpr double most_bytes = 4, most_padding = 0.75;  // of compressed rows; of the places
  const auto megabytes = [](double bytes) {
    return support::general_text(1e-6 * bytes, 3) + " MB";
  };
  if (e.whole) return "blocks would have all elements";
  if (1 - 1 / e.places > most_padding)
    return support::fixed_text(100 * (1 - 1 / e.places), 0) +
           " % of the places would be padding, " + support::fixed_text(100 * most_padding, 0) +
           " % may be";
  if (e.bytes > most_bytes * rows.bytes)
    return "it would take " + megabytes(e.bytes) + ", compressed rows take " +
           megabytes(rows.bytes) + ", and " + support::general_text(most_bytes, 2) +
           " times as much is the limit";
  if (e.bytes + e.moved > most)
    return "it would take " + megabytes(e.bytes + e.moved) + ", and most_format_bytes allows " +
           megabytes(most);
  return {};
}

}  // namespace tilewright::detail
