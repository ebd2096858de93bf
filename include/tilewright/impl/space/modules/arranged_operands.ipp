#pragma once

#include <optional>
#include <vector>

#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/impl/space/tiles/operand_producer.hpp>
#include <tilewright/impl/space/tiles/own_transpose.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/modules/arranged_operands.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space {
namespace detail {

/// The dimension goes last, behind its phases where it moves in steps.
inline ir::index_map phases_last(std::size_t rank, const moving_dimension& m) {
  return ir::make_index_map(rank, [&](const std::vector<ir::var>& v) {
    std::vector<ir::expr> out;
    for (std::size_t d = 0; d < rank; ++d)
      if (d != m.dim) out.push_back(v[d]);
    const ir::expr step = ir::integer(v[m.dim].type(), m.step);
    if (m.step > 1) out.push_back(ir::floormod(v[m.dim], step));
    out.push_back(m.step > 1 ? ir::floordiv(v[m.dim], step) : ir::expr(v[m.dim]));
    return out;
  });
}

/// Lays the operand out, and lets the loops of its producer follow.
inline void arrange(schedule& s, const std::string& producer, const moving_dimension& m) {
  const block_rv b = s.get_block(producer);
  const ir::buffer operand = s.get(b).block->writes[0].buffer;
  const std::size_t rank = operand->shape.size();
  const ir::index_map map = phases_last(rank, m);
  const ir::expr& extent = operand->shape[m.dim];
  if (!ir::is_int(extent) || extent->integer % m.step != 0) {
    // the nest runs over the new dimensions, and fills what no element takes
    const bool real = is_float(operand->type);
    s.transform_layout(b, written_buffer(0), map, real ? argument(0.0) : argument(0));
    return;
  }
  s.transform_layout(b, written_buffer(0), map);
  s.transform_block_layout(b, map);
}

}  // namespace detail

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
