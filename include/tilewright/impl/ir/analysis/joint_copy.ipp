#pragma once

#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE bool is_auto_copy(const block_node& copy) {
  return find_note(copy.annotations, auto_copy) != nullptr;
}

TILEWRIGHT_INLINE bool copies_jointly(const block_node& copy, const loop_node& loop) {
  if (!is_auto_copy(copy) || is_int(loop.extent, 1)) return false;
  bool shared = false, own = false;
  for (const auto* list : {&copy.reads, &copy.writes})
    for (const buffer_region& r : *list) {
      const bool visible = shared_across(r.buffer->scope, loop);
      if (storage_rank(r.buffer->scope) > 0) (visible ? shared : own) = true;
    }
  return shared && !own;
}

}  // namespace tilewright::ir
