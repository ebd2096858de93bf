// nearest_kind: which primitive was meant by a name that none has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/schedule/instruction.hpp>

namespace tilewright::detail::nearest_kind {

/// How many letters are put in, left out or replaced to make one word of the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // [prefixes of b], for the letters of a so far
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// What to write instead of `name`, which no kind has: the name of a kind where at most a third of
/// its letters differ, and otherwise where all of them stand. `spelled` gives the name of a kind in
/// the text at hand.
template <class Spelled>
std::string advice(std::string_view name, const Spelled& spelled) {
  std::string nearest;
  std::size_t least = name.size() / 3 + 1;
  for (const instruction_kind& kind : instruction_kinds()) {
    const std::string other(spelled(kind));
    const std::size_t distance = edit_distance(name, other);
    if (distance >= least) continue;
    least = distance;
    nearest = other;
  }
  if (!nearest.empty()) return "write " + nearest;
  return "docs/primitives.md has those of this version; a newer one may have written the trace";
}

}  // namespace tilewright::detail::nearest_kind
