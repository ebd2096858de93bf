// The order of blocks and of threads in a product, and of threads in a window.
//
// Threads of a warp that stand in rows and columns read fewer operands than threads in a line. Shared memory gives a
// warp 128 bytes a cycle, whoever asks for the same: 16 bytes to each thread take four cycles, and two where every
// thread reads what its neighbour does. So some threads stand above each other, rows in twos, and share what they
// read of a column. Blocks that run at a time share more in the cache when they make a square of the result than
// when they make a line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/chooser.hpp>

namespace tilewright::space::detail {

/// Rows and columns of a product, among the spatial iteration variables of its block.
struct product_sides {
  std::size_t row = 0, column = 0;
};

/// The last two spatial variables with several values, where one reduction has several terms; nothing for
/// other blocks.
inline std::optional<product_sides> sides_of_product(const ir::block_node& block) {
  std::vector<std::size_t> sides;
  std::size_t spatial = 0;
  int reductions = 0;
  for (const ir::iter_var& iter : block.iters) {
    const bool several = !ir::is_int(iter.dom.extent, 1);
    if (iter.kind == ir::iter_kind::reduce) {
      reductions += several ? 1 : 0;
    } else {
      if (several) sides.push_back(spatial);
      ++spatial;
    }
  }
  if (reductions != 1 || sides.size() < 2) return std::nullopt;
  return product_sides{sides[sides.size() - 2], sides.back()};
}

/// The last spatial variable and the one before it of a window, where several reductions have several terms and each
/// of the two variables moves an operand that the other one does not: filters and what they are laid on. Nothing for
/// other blocks, as where each channel has a window of its own.
inline std::optional<product_sides> sides_of_window(const ir::block_node& block) {
  std::vector<std::size_t> sides;
  std::vector<ir::expr> variables;
  int reductions = 0;
  std::size_t spatial = 0;
  for (const ir::iter_var& iter : block.iters) {
    const bool several = !ir::is_int(iter.dom.extent, 1);
    if (iter.kind == ir::iter_kind::reduce) {
      reductions += several ? 1 : 0;
      continue;
    }
    if (several) {
      sides.push_back(spatial);
      variables.push_back(iter.var);
    }
    ++spatial;
  }
  if (reductions < 2 || sides.size() < 2) return std::nullopt;
  const ir::expr &row = variables[variables.size() - 2], &column = variables.back();
  bool row_alone = false, column_alone = false;
  for (const ir::buffer_region& r : block.reads) {
    if (r.buffer == block.writes[0].buffer) continue;
    bool by_row = false, by_column = false;
    for (const ir::range& dim : r.box) {
      by_row = by_row || ir::uses_var(dim.min, row);
      by_column = by_column || ir::uses_var(dim.min, column);
    }
    row_alone = row_alone || (by_row && !by_column);
    column_alone = column_alone || (by_column && !by_row);
  }
  if (!row_alone || !column_alone) return std::nullopt;
  return product_sides{sides[sides.size() - 2], sides.back()};
}

/// Whether the rows of what a product reads, its last dimension, are terms of the reduction.
inline bool has_rows_of_terms(const ir::block_node& block, const ir::buffer_region& operand) {
  if (operand.box.size() < 2 || !sides_of_product(block)) return false;
  for (const ir::iter_var& iter : block.iters)
    if (iter.kind == ir::iter_kind::reduce && !ir::is_int(iter.dom.extent, 1) &&
        ir::uses_var(operand.box.back().min, iter.var))
      return true;
  return false;
}

/// The variable, of several reductions with several terms, that moves along the rows of an operand, its last dimension;
/// none where these are results.
inline std::optional<std::size_t> terms_of_rows(const ir::block_node& block,
                                                const ir::buffer_region& operand) {
  int reductions = 0;
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const ir::iter_var& iter = block.iters[i];
    if (iter.kind != ir::iter_kind::reduce || ir::is_int(iter.dom.extent, 1)) continue;
    ++reductions;
    if (operand.box.size() > 1 && ir::uses_var(operand.box.back().min, iter.var)) out = i;
  }
  return reductions > 1 ? out : std::nullopt;
}

inline std::int64_t constant_extent(const schedule& s, loop_rv loop) {
  const ir::expr extent = s.get(loop).extent;
  return ir::is_int(extent) ? ir::as_int(extent) : std::numeric_limits<std::int64_t>::max();
}

/// Splits the rows of blocks into groups, whose size is drawn: `rows columns` becomes `groups columns rows`. What
/// runs unmeasured are groups of 8 where there are more blocks than the device runs at once, else of 1.
inline void group_blocks(schedule& s, std::vector<loop_rv>& tile, const product_sides& sides,
                         chooser& choices, std::int64_t multiprocessors) {
  constexpr std::int64_t resident = 2, group = 8;
  constexpr int most = 16;
  const std::int64_t at_once = resident * multiprocessors;
  std::int64_t blocks = 1;
  for (const loop_rv loop : tile)
    blocks *= std::min(constant_extent(s, loop), at_once / blocks + 1);
  const std::int64_t wanted = blocks > at_once ? group : 1;
  const loop_rv rows = tile[sides.row];
  const std::vector<loop_rv> parts = s.split(rows, choices.perfect_tile(s, rows, most, {wanted}));
  tile[sides.row] = parts[0];
  tile.insert(tile.begin() + static_cast<std::ptrdiff_t>(sides.column) + 1, parts[1]);
  s.reorder(tile);
}

/// Splits rows and columns of threads into warps and lanes, drawn: `rows columns` becomes `warps of rows, warps of
/// columns, lanes of rows, lanes of columns, rows that stand together`. What runs unmeasured are warps of 4 x 8, rows
/// in twos.
inline void order_in_warps(schedule& s, std::vector<loop_rv>& tile, const product_sides& sides,
                           chooser& choices, std::int64_t warp_size) {
  constexpr std::int64_t wide = 8, together = 2;
  constexpr int most_together = 4;
  const loop_rv rows = tile[sides.row], columns = tile[sides.column];
  const std::int64_t beside = std::min(wide, constant_extent(s, columns)),
                     above = std::min(warp_size / beside, constant_extent(s, rows)),
                     lanes = std::min(warp_size / above, constant_extent(s, columns));
  const std::vector<loop_rv> r =
      s.split(rows, choices.perfect_tile(s, rows, most_together,
                                         {std::max<std::int64_t>(above / together, 1), together}));
  const std::vector<loop_rv> c =
      s.split(columns, choices.perfect_tile(s, columns, static_cast<int>(warp_size), {lanes}));
  tile[sides.row] = r[0];
  tile[sides.column] = c[0];
  tile.insert(tile.end(), {r[1], c[1], r[2]});
  s.reorder(tile);
}

}  // namespace tilewright::space::detail
