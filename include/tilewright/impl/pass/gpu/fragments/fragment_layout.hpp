// Which element of a tile of 16 x 16 lies in which register of which lane.
#pragma once

#include <cstdint>
#include <utility>

#include <tilewright/ir/expr.hpp>

namespace tilewright::pass::detail::fragments {

using namespace tilewright::ir;

inline constexpr std::int64_t tile = 16, lanes = 32, registers = 8;

/// The layouts of the operands of mma.sync m16n8k16, two of which make a tile. A register of 32 bits
/// holds `part` elements side by side along a row; each row is held by four lanes.
struct layout {
  std::int64_t part = 2;
  bool halves_inside =
      true;              // rows 8 to 15 lie beside rows 0 to 7 of the same step, else behind them
  bool swapped = false;  // a row of the layout is a column of the buffer
  /// Of bytes whose rows in memory are columns of the layout, and of the sums of their products: row 2 g of an
  /// operand lies where row g does otherwise, and row 2 g + 1 where row g + 8 does. What ldmatrix transposes
  /// are pairs of bytes, so that a lane receives bytes of two rows side by side.
  bool interleaved = false;
  /// Of the sums of a warp group: warp w has rows 16 w on of 64.
  bool of_group = false;

  friend bool operator==(const layout&, const layout&) = default;

  std::int64_t rows() const { return of_group ? 4 * tile : tile; }
  std::int64_t threads() const { return of_group ? 4 * lanes : lanes; }

  /// Steps along a row: what four lanes hold in one register each.
  std::int64_t step() const { return 4 * part; }
  std::int64_t groups() const { return registers / part; }

  /// Which of a lane's elements of a tile is element `i` of group `group`.
  expr element(const expr& group, const expr& i) const {
    if (!interleaved || !halves_inside) return group * integer32(part) + i;
    return floormod(i, 2) * 4 + group * 2 + floordiv(i, 2);  // sums, four of a row side by side
  }

  /// Row and column in the buffer of element `i` of group `group`, whose elements lie side by side.
  std::pair<expr, expr> place(const expr& thread, const expr& group, const expr& i) const {
    const expr lane = of_group ? floormod(thread, integer32(lanes)) : thread;
    const std::int64_t steps = tile / step();
    const expr half = halves_inside ? floormod(group, 2) : floordiv(group, integer32(steps));
    const expr along = halves_inside ? floordiv(group, 2) : floormod(group, integer32(steps));
    const bool rows = interleaved && !halves_inside;
    expr row = rows ? floordiv(lane, 4) * 2 + half : floordiv(lane, 4) + half * 8;
    expr column = along * integer32(step()) + floormod(lane, 4) * integer32(part) + i;
    if (of_group) row = floordiv(thread, integer32(lanes)) * integer32(tile) + row;
    if (swapped) std::swap(row, column);
    return {row, column};
  }

  static expr integer32(std::int64_t v) { return integer(dtype::i32, v); }
};

/// How many of these make the registers of a tile: one has four registers of 32 bits at most.
inline std::int64_t loads_of_tile(const layout& l) { return l.part == 1 ? 2 : 1; }

/// Where the row of 16 bytes begins, of those that a lane points to in ldmatrix, so that the registers
/// come out in the order of the layout. `transposed`: rows in memory are columns of the layout. `load`:
/// the number of the load, of those of a tile.
inline std::pair<expr, expr> pointed_row(const layout& l, bool transposed, const expr& lane,
                                         const expr& load) {
  const expr low = floormod(lane, 8), middle = floormod(floordiv(lane, 8), 2),
             high = floordiv(lane, 16), second = load * 8;
  expr row, column;
  if (l.part == 1 && l.halves_inside)
    row = low + middle * 8, column = high * 4 + second;
  else if (l.part == 1)
    row = low + second, column = floordiv(lane, 8) * 4;
  else if (l.part == 4 && transposed)  // four steps for each place of a lane
    row = layout::integer32(0), column = floordiv(low, 2) * 4 + middle * 2 + floormod(low, 2);
  else if (l.part == 4)
    row = floormod(lane, 16), column = layout::integer32(0);
  else if (l.halves_inside)
    row = transposed ? middle * 8 : low + middle * 8,
    column = (transposed ? low : expr(0)) + high * 8;
  else
    row = transposed ? high * 8 : low + high * 8,
    column = (transposed ? low : expr(0)) + middle * 8;
  if (l.swapped) std::swap(row, column);
  return {row, column};
}

}  // namespace tilewright::pass::detail::fragments
