// What offsets and indices of compressed rows must be like.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright::support {

/// Offsets and indices of compressed rows, with the names that messages call them by.
template <class Index>
struct pattern_view {
  const Index* offsets;
  const Index* indices;
  std::int64_t rows, columns, nonzeros;
  const std::string &offsets_name, &indices_name;
  bool by_columns = false;  // rows and columns have changed places: messages call them so
};

/// @cond
inline std::string element_text(const std::string& name, std::int64_t at, std::int64_t value) {
  return "\"" + name + "\"[" + std::to_string(at) + "] is " + std::to_string(value);
}

template <class Index>
std::string wrong_offset(const pattern_view<Index>& p) {
  const auto text = [&](std::int64_t row) {
    return element_text(p.offsets_name, row, p.offsets[row]);
  };
  if (p.offsets[0] != 0) return text(0) + "; offsets begin with 0";
  for (std::int64_t row = 0; row < p.rows; ++row)
    if (p.offsets[row + 1] < p.offsets[row])
      return text(row + 1) + " after " + std::to_string(p.offsets[row]) +
             "; offsets never decrease";
  if (p.offsets[p.rows] != p.nonzeros)
    return text(p.rows) + ", but there are " + std::to_string(p.nonzeros) +
           " elements; the last offset is their number";
  return {};
}

template <class Index>
std::string wrong_index(const pattern_view<Index>& p) {
  for (std::int64_t row = 0; row < p.rows; ++row) {
    std::int64_t before = -1;
    for (std::int64_t at = p.offsets[row]; at < p.offsets[row + 1]; ++at) {
      const std::int64_t now = p.indices[at];
      if (now > before && now < p.columns) {
        before = now;
        continue;
      }
      const std::string line = p.by_columns ? "column" : "row";
      const std::string number = p.by_columns ? "row" : "column";
      const std::string text =
          element_text(p.indices_name, at, now) + " in " + line + " " + std::to_string(row);
      if (now < 0 || now >= p.columns)
        return text + "; the " + number + "s are 0 to " + std::to_string(p.columns - 1);
      return text + " after " + std::to_string(before) +
             (now == before ? "; no " + number + " occurs twice in a " + line +
                                  ", add up what belongs to one element"
                            : "; the " + number + "s of a " + line + " rise, sort them");
    }
  }
  return {};
}
/// @endcond

/// What is wrong with a pattern, by array, position and value; "" when nothing is.
///
/// It requires: 1) offsets begin with 0, never decrease, and end with the number of elements; 2)
/// indices are in the columns; 3) they rise within a row, so that none occurs twice.
template <class Index>
std::string wrong_pattern(const pattern_view<Index>& p) {
  const std::string wrong = wrong_offset(p);
  return wrong.empty() ? wrong_index(p) : wrong;
}

}  // namespace tilewright::support
