#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/space/register_tiles.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::space {
namespace detail {

/// Share of the columns whose accumulators LLVM's register allocator keeps in memory: those of a last
/// tile of which the last vector is narrower than the others, whose broadcasts it shares, where few
/// registers are left. Counted with LLVM 19 on 206 x 40 and 206 x 56 results, 32 registers, tiles of
/// three and four vectors a row: none of 24 accumulators and vectors of a row together or fewer, all
/// of 27 or more. A last vector under a mask takes two registers more, for the mask's zeros and the operand:
/// of 286 x 37 results, 24 spill, 21 do not; of 238 x 29 results of 199 terms, tiles of 14 x 32 take 30 us, and of 13 to 7 x 32
/// 12 us; with 16 registers, 6 x 16 take 52 us and 4 x 16 take 30 us. So do two vectors that are all columns there are: of 12 f64 columns
/// of a four-index contraction 12 x 16 take 80 us and 6 x 16 take 58 us, which are multiply-adds alone. Other tiles of one and two
/// vectors follow no such rule.
inline double spilled(const register_tile& tile, std::int64_t column_extent, std::int64_t lanes,
                      std::int64_t registers) {
  const std::int64_t last = column_extent % tile.columns, vectors = (last + lanes - 1) / lanes;
  const bool masked = std::popcount(static_cast<std::uint64_t>(last % lanes)) > 1;
  const std::int64_t needed = (tile.rows + 1) * vectors + (masked ? 2 : 0);
  const std::int64_t least = masked || column_extent < tile.columns ? 2 : 3;  // vectors
  if (last % lanes == 0 || vectors < least || 5 * needed <= 4 * registers) return 0;
  return static_cast<double>(last) / static_cast<double>(column_extent);
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<register_tile> register_tiles(const target::cpu& cpu, dtype type,
                                                            std::int64_t row_extent,
                                                            std::int64_t column_extent) {
  const std::int64_t lanes = cpu.lanes(type);
  std::vector<register_tile> out;
  for (std::int64_t vectors = 1; vectors <= 4; ++vectors) {
    const std::int64_t columns = vectors * lanes;
    if (vectors > 1 && columns >= column_extent + lanes) break;
    const std::int64_t most_rows = (cpu.vector_registers - 1 - vectors) / vectors;
    for (std::int64_t rows = 1; rows <= std::min(most_rows, row_extent); ++rows) {
      const auto accumulators = static_cast<double>(rows * vectors);
      const double work_per_load = accumulators / static_cast<double>(rows + vectors);
      const double inside = detail::fill(row_extent, rows) * detail::fill(column_extent, columns);
      // Two multiply-adds of four cycles can be in flight: fewer than eight accumulators stall.
      const double weight =
          std::pow(work_per_load, 2) * std::pow(inside, 4) * std::min(1.0, accumulators / 8);
      register_tile tile{rows, columns, weight};
      tile.weight /=
          std::pow(1 + detail::spilled(tile, column_extent, lanes, cpu.vector_registers), 2);
      out.push_back(tile);
    }
  }
  support::stable_sort(
      out, [](const register_tile& a, const register_tile& b) { return a.weight > b.weight; });
  if (out.size() > 16) out.resize(16);
  return out;
}

}  // namespace tilewright::space
