// What a block and its operands say about register tiles: which operands can be loaded along the
// columns or laid out for them, and how tiles suit windows, conditions and the register file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/impl/space/windows/borders.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/register_tiles.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// Whether a condition decides what the block computes.
inline bool has_condition(const ir::block_node& block) {
  bool found =
      ir::any_stmt(block.body, [](const ir::stmt& s) { return s->kind == ir::stmt_kind::if_else; });
  ir::for_each_expr(block.body,
                    [&](const ir::expr& e) { found = found || e->op == ir::op::if_then_else; });
  return found;
}

/// Whether a transposed panel can stand for the operand: an argument whose elements serve all rows,
/// and which takes single steps along some dimension when the columns do.
inline bool is_panel_material(const schedule& s, const ir::block_node& block,
                              const access_profile& read, std::size_t columns, std::size_t rows) {
  const std::vector<ir::buffer>& own = ir::root_block(s.function())->alloc_buffers;
  if (!read.affine || read.region < 0 || read.stride[rows] != 0 ||
      support::contains(own, read.buffer))
    return false;
  const std::vector<ir::range>& box = block.reads[static_cast<std::size_t>(read.region)].box;
  return support::any(box, [&](const ir::range& r) {
    return arith::to_linear(r.min).coefficient(block.iters[columns].var) == 1;
  });
}

/// How a tile suits windows that serve one result each. Those that overlap are loaded once for
/// neighbouring rows where taps are written out: some sums are enough, and hardware loads lines in pairs.
/// Where none overlap along the rows, these share nothing, and a few sums keep what they load in registers:
/// an average of 3x3 in steps of three takes 16.6 us with one row of three vectors, 28 with ten rows of one.
inline double window_weight(const register_tile& t, std::int64_t row_extent,
                            std::int64_t column_extent, std::int64_t lanes, bool overlap) {
  const std::int64_t vectors = t.rows * t.columns / lanes;
  const auto sums = static_cast<double>(vectors);
  const double inside = fill(row_extent, t.rows) * fill(column_extent, t.columns);
  const double pairs = t.columns % (2 * lanes) == 0 ? 1.25 : 1;
  if (!overlap)
    return std::pow(inside, 4) * std::min({1.0, sums / 3, 6 / sums}) / static_cast<double>(t.rows);
  return pairs * std::pow(inside, 4) * std::min({1.0, sums / 8, 14 / sums});
}

/// Whether a condition in the block is about the rows and the reduction variable together.
inline bool decides_rows(const ir::block_node& b, std::size_t rows, std::size_t reduced) {
  bool out = false;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op != ir::op::select && e->op != ir::op::if_then_else) return;
    for (const ir::expr& term : ir::conjuncts(e->args[0]))
      out = out ||
            (ir::uses_var(term, b.iters[rows].var) && ir::uses_var(term, b.iters[reduced].var));
  });
  return out;
}

/// Elements of an operand that the rows of a tile read in the taps that conditions decide, all of which
/// are written out: neighbours in both are the same element, which stays in a register.
inline std::int64_t elements_of_taps(const ir::block_node& b, std::size_t rows, std::size_t reduced,
                                     std::int64_t tile_rows, std::int64_t taps) {
  std::int64_t out = tile_rows * taps;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op != ir::op::load) return;
    for (const ir::expr& index : e->args) {
      const arith::linear sum = arith::to_linear(index);
      const std::int64_t row = std::abs(sum.coefficient(b.iters[rows].var)),
                         tap = std::abs(sum.coefficient(b.iters[reduced].var));
      if (row == 0 || tap == 0) continue;
      const std::int64_t step = std::gcd(row, tap);
      out = std::min(out, ((tile_rows - 1) * row + (taps - 1) * tap) / step + 1);
    }
  });
  return out;
}

/// By what conditions in the block divide the rows: 2 where one is about `(row - tap) % 2`; else 1.
inline std::int64_t period_of_rows(const ir::block_node& b, std::size_t rows) {
  std::int64_t out = 1;
  const auto look = [&](const ir::expr& e) {
    if (e->op == ir::op::floormod && ir::is_int(e->args[1]) &&
        ir::uses_var(e->args[0], b.iters[rows].var))
      out = std::max(out, ir::as_int(e->args[1]));
  };
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op == ir::op::select || e->op == ir::op::if_then_else)
      ir::for_each_expr(e->args[0], look);
  });
  return out;
}

/// The longest reduction that may be written out within a tile.
inline constexpr std::int64_t most_taps = 8;

/// What is left of a tile's promise where one row of `period` takes part in a step: so many rows share a vector of
/// the streamed operand, and no more. A transposed convolution of 4 by 4 in steps of two, 512 to 256 channels, takes
/// 810 us in tiles of 4 x 64, and 303 us in tiles of 8 x 48.
inline double sharing_in_period(const register_tile& t, std::int64_t period, std::int64_t lanes) {
  const auto rows = static_cast<double>(t.rows), vectors = static_cast<double>(t.columns / lanes);
  return std::pow((rows + vectors) / (rows + static_cast<double>(period) * vectors), 2);
}

/// Whether conditions are about the innermost reduction.
inline bool decides_last(const ir::block_node& b) {
  std::optional<ir::var> last;
  for (const ir::iter_var& i : b.iters)
    if (i.kind == ir::iter_kind::reduce && !ir::is_int(i.dom.extent, 1)) last = i.var;
  bool out = false;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op == ir::op::select || e->op == ir::op::if_then_else)
      out = out || (last && ir::uses_var(e->args[0], *last));
  });
  return out;
}

/// Whether sums and operands leave too few registers for what then leaves the innermost loop: of 24 sums, LLVM 19
/// keeps some in memory in tiles of 6 x 64, which take 15.5 us where 12 x 32 take 8.8 us (64 channels first of 21
/// by 19, 3 by 3 in steps of two).
inline bool crowds_period(const register_tile& t, std::int64_t lanes, std::int64_t registers) {
  constexpr std::int64_t left = 4;
  return (t.rows + 1) * (t.columns / lanes) + left >= registers;
}

}  // namespace tilewright::space::detail
