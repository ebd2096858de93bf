// Operands of which a sum loads one element for all of its columns, and blocks that compute such an operand: inside of the sum, its
// elements would be computed again and again, or one by one.
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

/// Whether some load of the operand has the same element for all columns.
inline bool is_broadcast(const block_profile& p, const ir::buffer& operand, std::size_t columns) {
  return support::any(p.reads, [&](const access_profile& read) {
    return read.buffer == operand && read.affine && read.stride[columns] == 0;
  });
}

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

/// Whether a sum multiplies the broadcast operand with itself, that is, other loads of the operand move along the columns, and reads each
/// element many times: inside of the sum, an element would be computed again for every pair. The normal equations of 65,536 points with
/// six derivatives each, which five choices tell apart, take 735 us where the derivatives are computed inside.
inline bool multiplies_with_itself(const block_profile& p, const ir::buffer& operand,
                                   std::size_t columns) {
  constexpr double many = 4;
  return p.uses_of(operand) >= many && support::any(p.reads, [&](const access_profile& read) {
           return read.buffer == operand && read.affine && read.stride[columns] != 0;
         });
}

/// Whether a sum has fewer columns than a vector has lanes, and enough terms to fill a vector of the broadcast operand's elements: inside
/// of the sum, each element would be computed alone; before the sum, many are computed side by side. Six sums of 65,536 residuals of nine
/// operations each take 100 us where the residuals are computed inside.
inline bool has_few_columns(const block_profile& p, const ir::buffer& operand, std::size_t columns,
                            const target::cpu& cpu) {
  return p.extent[columns] < cpu.lanes(p.write.buffer->type) &&
         p.terms() >= cpu.lanes(operand->type);
}

/// Whether the block is to have a nest of its own, since a sum broadcasts what it computes and would compute it again, or alone.
inline bool is_broadcast_producer(const schedule& s, const std::string& name,
                                  const context& where) {
  const ir::block_node& b = *named_block(s, name).block;
  if (b.init || b.writes.size() != 1 || is_output(s, name)) return false;
  const ir::buffer& made = b.writes[0].buffer;
  return support::any(consumer_names(s, name), [&](const std::string& reader) {
    const std::optional<block_profile> p = profile(s, reader);
    const std::optional<std::size_t> columns = p ? p->contiguous() : std::nullopt;
    return columns && p->reduction && is_broadcast(*p, made, *columns) &&
           (multiplies_with_itself(*p, made, *columns) ||
            (computes(b) && has_few_columns(*p, made, *columns, *where.cpu)));
  });
}

}  // namespace tilewright::space::detail
