#pragma once

#include <optional>
#include <vector>

#include <tilewright/impl/space/tiles/arranged_dimension.hpp>
#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/impl/space/tiles/operand_producer.hpp>
#include <tilewright/impl/space/tiles/own_transpose.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE bool is_arrangeable(const schedule& s, const std::string& block,
                                      const access_profile& read, std::size_t columns) {
  const ir::block_node& b = *named_block(s, block).block;
  if (!read.affine) return false;
  if (!detail::arranging_producer(s, block, read.buffer)) {
    const std::optional<block_profile> p = profile(s, block);
    return read.region >= 0 && p && !detail::allocates(s, read.buffer) &&
           detail::meets_own_transpose(b, *p, read.buffer, columns);
  }
  const auto moves = detail::moving_along(b, read.buffer, b.iters[columns].var);
  // squares of narrow elements are not transposed in registers
  const bool transposes = moves && moves->dim + 1 < read.buffer->shape.size();
  return moves && (!transposes || bytes(read.buffer->type) >= 4);
}

TILEWRIGHT_INLINE void arranged_operands(schedule& s, const std::string& block, std::size_t columns,
                                         chooser& choices) {
  const std::optional<block_profile> p = profile(s, block);
  if (!p) return;
  std::vector<ir::buffer> seen;
  for (const access_profile& read : p->reads) {
    if (!read.affine || detail::loads_vectors(read, columns) ||
        support::contains(seen, read.buffer))
      continue;
    seen.push_back(read.buffer);
    const ir::block_node& b = *named_block(s, block).block;
    const auto moves = detail::moving_along(b, read.buffer, b.iters[columns].var);
    if (!moves) continue;
    if (moves->dim + 1 < read.buffer->shape.size() && !is_arrangeable(s, block, read, columns))
      continue;
    const bool shuffled = detail::loads_spread(read, columns);
    const std::optional<std::string> producer = detail::arranging_producer(s, block, read.buffer);
    const auto arrange_copy = [&](schedule& to) {
      const block_rv copy = to.cache_read(to.get_block(block), read.region, "global");
      detail::arrange(to, to.get(copy).block->name, *moves);
    };
    schedule attempt = s;
    try {
      if (!producer && detail::meets_own_transpose(b, *p, read.buffer, columns)) {
        if (choices.pick(2) == 1) continue;
        arrange_copy(attempt);
      } else if (producer) {
        if (shuffled && choices.pick(2) == 1) continue;
        detail::arrange(attempt, *producer, *moves);
      } else if (shuffled && read.region >= 0 && !detail::allocates(s, read.buffer)) {
        // a copy pays where elements are read again and again, by rows that share operands: with 4 and 12
        // uses, convolutions of one pixel in steps of two take 1.16 and 1.77 us with it, 0.72 and 1.5 without
        constexpr double many = 16;
        const bool worth = p->reuse(columns) && p->uses_of(read.buffer) >= many;
        if ((choices.pick(2) == 1) == worth) continue;
        arrange_copy(attempt);
      }
      s = std::move(attempt);
    } catch (const schedule_error&) {
      // the operand keeps its layout
    }
  }
}

}  // namespace tilewright::space
