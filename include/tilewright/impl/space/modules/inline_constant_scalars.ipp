#pragma once

#include <tilewright/space/modules/inline_constant_scalars.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void inline_constant_scalars::operator()(schedule& s, const std::string& name,
                                                           const context& /*where*/,
                                                           chooser& /*choices*/) const {
  if (!has_block(s, name)) return;
  const ir::block_node& block = *named_block(s, name).block;
  if (block.init || !block.reads.empty() || block.writes.size() != 1) return;
  if (!block.writes[0].box.empty() || is_output(s, name) || consumer_names(s, name).empty()) return;
  s.compute_inline(s.get_block(name));
}

}  // namespace tilewright::space
