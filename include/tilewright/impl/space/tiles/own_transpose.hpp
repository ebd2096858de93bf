// Products of a buffer with its own transpose, as C[i, j] = sum_t X[i, t] * X[j, t]: one load moves
// along the columns of a register tile, another one along its rows alone. This file asks how such a buffer had better lie in memory;
// broadcast_producer.hpp asks whether it is computed before the product, as other operands that are broadcast.
#pragma once

#include <cstddef>

#include <tilewright/impl/space/tiles/broadcast_producer.hpp>
#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/space/block_profile.hpp>
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
  return moves && moves->step == 1 && moves->dim + 1 < operand->shape.size() &&
         is_broadcast(p, operand, columns);
}

/// Whether rows and columns of a tile lie in one buffer whose rows are as long as the result's: a tile takes a
/// few elements of each row, which fall into few sets of a cache where rows are whole pages.
inline bool reads_own_rows(const block_profile& p, std::size_t columns) {
  return support::any(p.reads, [&](const access_profile& streamed) {
    return streamed.affine && streamed.stride[columns] == 1 &&
           is_broadcast(p, streamed.buffer, columns);
  });
}

}  // namespace tilewright::space::detail
