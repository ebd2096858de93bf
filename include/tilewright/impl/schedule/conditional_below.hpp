// Whether a loop may leave out a block below it in other ways than by the block's guard.
#pragma once

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail {

/// Whether an if or a let stands strictly between the loop, one of `at.loops()`, and the target.
inline bool conditional_below(const path& at, const ir::loop_node& loop) {
  for (std::size_t i = at.slots.size() - 1; i-- > 0 && ir::as_loop(*at.slots[i]) != &loop;)
    if (ir::as_if(*at.slots[i]) || ir::as_let(*at.slots[i])) return true;
  return false;
}

}  // namespace tilewright::primitive::detail
