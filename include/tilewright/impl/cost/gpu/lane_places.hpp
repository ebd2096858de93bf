// What one access of a warp costs, by the places of its lanes: cycles of shared memory, pieces of global memory.
//
// Shared memory has 32 banks of 4 bytes, and gives a warp 128 bytes a cycle. A load of 4 bytes is one step for all lanes, one of 8
// bytes a step for each half of them, one of 16 bytes a step for each quarter, whoever reads the same: a register of
// each lane is 128 bytes. Two such parts are one step where every lane reads what its neighbour does, or the lane
// behind that one. In a step each bank serves one word after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tilewright::cost::detail {

inline constexpr int most_lanes = 32;

/// Bytes from the first lane's to each lane's piece.
using lane_bytes = std::array<std::int64_t, most_lanes>;

/// Whether each of the first `lanes` lanes has the place of the one that its number with `bit` turned has.
inline bool shared_by_pairs(const lane_bytes& at, int lanes, int bit) {
  for (int l = 0; l < lanes; ++l)
    if ((l ^ bit) < lanes &&
        at[static_cast<std::size_t>(l)] != at[static_cast<std::size_t>(l ^ bit)])
      return false;
  return true;
}

/// @param piece  bytes of a lane, at most 16
inline double bank_cycles(const lane_bytes& at, int lanes, std::int64_t piece, bool reads) {
  constexpr std::int64_t word = 4, banks = 32;
  const std::int64_t words = std::max<std::int64_t>(piece / word, 1);
  std::int64_t group = words >= 4 ? 8 : words >= 2 ? 16 : 32;  // lanes of a step
  if (group < 32 && reads && (shared_by_pairs(at, lanes, 1) || shared_by_pairs(at, lanes, 2)))
    group *= 2;
  std::int64_t cycles = 0;
  for (std::int64_t first = 0; first < lanes; first += group) {
    std::array<std::int64_t, banks> asked{};
    std::array<std::int64_t, most_lanes> met{};
    int different = 0;
    for (std::int64_t l = first; l < std::min<std::int64_t>(first + group, lanes); ++l) {
      const std::int64_t mine = at[static_cast<std::size_t>(l)] / word;
      const auto end = met.begin() + different;
      if (std::find(met.begin(), end, mine) != end) continue;
      met[static_cast<std::size_t>(different++)] = mine;
      for (std::int64_t w = 0; w < words; ++w) {
        const std::int64_t bank = (mine + w) % banks;
        ++asked[static_cast<std::size_t>(bank < 0 ? bank + banks : bank)];
      }
    }
    cycles += *std::max_element(asked.begin(), asked.end());
  }
  return static_cast<double>(std::max<std::int64_t>(cycles, 1));
}

/// Pieces of 32 bytes that the lanes touch, where the first one begins with such a piece.
inline double sectors_of(const lane_bytes& at, int lanes, std::int64_t piece) {
  constexpr std::int64_t sector = 32;
  std::array<std::int64_t, most_lanes> met{};
  std::size_t different = 0;
  for (std::size_t l = 0; l < static_cast<std::size_t>(lanes); ++l) {
    const std::int64_t mine = at[l] / sector;
    const auto end = met.begin() + static_cast<std::ptrdiff_t>(different);
    if (std::find(met.begin(), end, mine) == end) met[different++] = mine;
  }
  return static_cast<double>(different) *
         static_cast<double>(std::max<std::int64_t>((piece + sector - 1) / sector, 1));
}

}  // namespace tilewright::cost::detail
