// Whole vectors that overlap: the first and the last of a group hold all that the others hold.
//
//   X[x - 4 + l], X[x - 3 + l], ..., X[x + 4 + l]   ->   X[x - 4 + l] and X[x + 4 + l], and seven shuffles of these
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>

namespace tilewright::backend::llvm::detail {

/// Groups of the vectors that begin at the numbers, which are sorted, from the first to the last of each: five vectors or more,
/// since fewer take as long as they save.
inline std::vector<interval> overlapping_groups(std::vector<std::int64_t> begins,
                                                std::int64_t lanes) {
  constexpr std::ptrdiff_t fewest = 5;
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<interval> out;
  for (auto first = begins.begin(); first != begins.end();) {
    const auto end = std::upper_bound(first, begins.end(), *first + lanes);
    if (end - first >= fewest) out.push_back({*first, *(end - 1)});
    first = end;
  }
  return out;
}

/// Where the lanes of the vector that begins at `begin` are in the first one of the group and, from `lanes` on, in the last one.
inline std::vector<std::int64_t> overlapping_lanes(const interval& group, std::int64_t begin,
                                                   std::int64_t lanes) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < lanes; ++i) {
    const std::int64_t place = begin - group.lo + i;
    out.push_back(place < lanes ? place : place - (group.hi - group.lo) + lanes);
  }
  return out;
}

}  // namespace tilewright::backend::llvm::detail
