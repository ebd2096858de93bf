// The block of the function that computes an operand of another one.
#pragma once

#include <optional>
#include <string>

#include <tilewright/ir/visit.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

inline bool allocates(const schedule& s, const ir::buffer& operand) {
  return support::contains(ir::root_block(s.function())->alloc_buffers, operand);
}

/// The block that computes the operand, where its layout is nobody else's concern.
inline std::optional<std::string> arranging_producer(const schedule& s, const std::string& block,
                                                     const ir::buffer& operand) {
  if (!allocates(s, operand)) return std::nullopt;
  std::optional<std::string> out;
  for (const std::string& name : producer_names(s, block)) {
    const ir::block_node& b = *named_block(s, name).block;
    if (b.writes.size() != 1 || b.writes[0].buffer != operand) continue;
    const std::optional<block_profile> p = profile(s, name);
    if (out || !p || p->reduction || p->updates || consumer_names(s, name).size() != 1)
      return std::nullopt;
    out = name;
  }
  return out;
}

}  // namespace tilewright::space::detail
