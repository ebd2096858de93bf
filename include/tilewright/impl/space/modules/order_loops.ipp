#pragma once

#include <algorithm>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/modules/order_loops.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space {

TILEWRIGHT_INLINE void order_loops(schedule& s, const std::string& name) {
  const std::optional<block_profile> p = profile(s, name);
  if (!p || (!p->reduction && !producer_names(s, name).empty())) return;
  const std::vector<std::size_t> order = p->walking_order();
  if (std::is_sorted(order.begin(), order.end())) return;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  std::vector<loop_rv> ordered;
  for (const std::size_t i : order) ordered.push_back(loops[i]);
  s.reorder(ordered);
}

}  // namespace tilewright::space
