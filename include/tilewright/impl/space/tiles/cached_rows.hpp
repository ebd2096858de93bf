// What caches hold of an operand that tiles read again: rows that lie far apart, and panels that pixels share.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tilewright/support/numbers/checked.hpp>

namespace tilewright::space::detail {

/// How many rows of an operand, `distance` bytes from each other, a cache holds parts of `part` bytes of. Rows that
/// lie a multiple of a power of two apart share the sets that begin there: of rows of 4 KB, a cache of 1 MB holds 256,
/// whatever part of each.
/// @param distance,part,cache bytes
inline std::int64_t rows_that_stay(std::int64_t distance, std::int64_t part, std::int64_t cache) {
  const std::int64_t apart = distance & -distance;
  return cache / std::max<std::int64_t>({apart, part, 1});
}

/// Bytes that products of an image move, a row of the image after the other, and a panel of columns after the other.
struct image_traffic {
  std::int64_t weights = 0;  // bytes of the operand that all rows of the image share
  std::int64_t pixels = 0;   // bytes of the operand that all columns share
  std::int64_t rows = 1;     // of the image
  std::int64_t panels = 1;   // of columns

  /// Whether all rows of the image had better take a panel before the next one: weights are read once then, and pixels
  /// once a panel.
  bool suits_panels() const {
    return support::saturated_product(weights, rows) > support::saturated_product(pixels, panels);
  }
};

}  // namespace tilewright::space::detail
