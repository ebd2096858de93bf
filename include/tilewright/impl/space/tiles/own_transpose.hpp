// Products of a buffer with its own transpose, as C[i, j] = sum_t X[i, t] * X[j, t]: one load moves
// along the columns of a register tile, another one along its rows alone.
#pragma once

#include <optional>
#include <string>

#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

/// Whether the reduction multiplies the buffer with its own transpose: some load of it takes single
/// steps along another dimension than the last one when the columns do, and another load does not move
/// with the columns. One transposed buffer serves both: vectors of the first load and broadcasts of the
/// second one lie in the same rows. Elements have to be of four bytes or more, squares of which are
/// transposed in registers.
inline bool meets_own_transpose(const ir::block_node& b, const block_profile& p,
                                const ir::buffer& operand, std::size_t columns) {
  if (!p.reduction || bytes(operand->type) < 4 || !p.reuse(columns)) return false;
  const auto moves = moving_along(b, operand, b.iters[columns].var);
  if (!moves || moves->step != 1 || moves->dim + 1 >= operand->shape.size()) return false;
  const auto stays = [&](const access_profile& read) {
    return read.buffer == operand && read.affine && read.stride[columns] == 0;
  };
  return support::any(p.reads, stays);
}

/// Whether rows and columns of a tile lie in one buffer whose rows are as long as the result's: it takes a
/// few elements of each, a row apart, which fall into few sets of a cache where rows are whole pages.
inline bool reads_own_rows(const block_profile& p, std::size_t columns) {
  return support::any(p.reads, [&](const access_profile& streamed) {
    return streamed.affine && streamed.stride[columns] == 1 &&
           support::any(p.reads, [&](const access_profile& other) {
             return other.buffer == streamed.buffer && other.affine && other.stride[columns] == 0;
           });
  });
}

/// Whether the reduction multiplies elements of the buffer with others of it, many times each.
inline bool multiplies_with_itself(const block_profile& p, const ir::buffer& operand) {
  constexpr double many = 4;
  const std::optional<std::size_t> columns = p.contiguous();
  if (!p.reduction || !columns || p.uses_of(operand) < many) return false;
  const auto moves = [&](bool along) {
    return support::any(p.reads, [&](const access_profile& read) {
      return read.buffer == operand && read.affine && (read.stride[*columns] != 0) == along;
    });
  };
  return moves(true) && moves(false);
}

/// Whether what the block computes, element by element, is multiplied with itself by a block that reads it: there it would
/// be computed again for every pair. The normal equations of 65,536 points with six derivatives each, which five choices
/// tell apart, take 735 us so.
inline bool feeds_own_product(const schedule& s, const std::string& name) {
  const ir::block_node& b = *named_block(s, name).block;
  if (b.init || b.writes.size() != 1 || is_output(s, name)) return false;
  return support::any(consumer_names(s, name), [&](const std::string& reader) {
    const std::optional<block_profile> p = profile(s, reader);
    return p && multiplies_with_itself(*p, b.writes[0].buffer);
  });
}

}  // namespace tilewright::space::detail
