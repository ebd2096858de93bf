// What a block computes of which a sum of few columns needs one element for all of these at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// Whether computing an element takes several operations on numbers.
inline bool computes(const ir::block_node& b) {
  constexpr int several = 2;
  int operations = 0;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    const bool arithmetic = e->op == ir::op::add || e->op == ir::op::sub || e->op == ir::op::mul ||
                            e->op == ir::op::div;
    operations += arithmetic && is_float(e.type()) ? 1 : 0;
  });
  return operations >= several;
}

/// Whether a sum that reads the block has fewer columns than a vector has lanes, and the same element for all of them: inside
/// of it the element would be computed alone, and many side by side in vectors of their own. Six sums of 65,536 residuals
/// of nine operations each take 100 us so.
inline bool feeds_few_columns(const schedule& s, const std::string& name, const context& where) {
  const ir::block_node& b = *named_block(s, name).block;
  if (b.init || b.writes.size() != 1 || is_output(s, name) || !computes(b)) return false;
  const ir::buffer& made = b.writes[0].buffer;
  return support::any(consumer_names(s, name), [&](const std::string& reader) {
    const std::optional<block_profile> p = profile(s, reader);
    const std::optional<std::size_t> columns = p ? p->contiguous() : std::nullopt;
    const auto is_shared = [&](const access_profile& read) {
      return read.buffer == made && read.affine && read.stride[*columns] == 0;
    };
    return columns && p->reduction &&
           p->extent[*columns] < where.cpu->lanes(p->write.buffer->type) &&
           p->terms() >= where.cpu->lanes(made->type) && support::any(p->reads, is_shared);
  });
}

}  // namespace tilewright::space::detail
