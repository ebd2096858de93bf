#pragma once

#include <algorithm>

#include <tilewright/ir/joint_copy.hpp>
#include <tilewright/ir/storage_scope.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE bool is_auto_copy(const block_node& copy) {
  return copy.annotations.count(auto_copy) != 0;
}

TILEWRIGHT_INLINE bool copies_jointly(const block_node& copy, const loop_node& loop) {
  if (!is_auto_copy(copy) || is_int(loop.extent, 1)) return false;
  const auto shared = [&](const buffer_region& r) {
    return storage_rank(r.buffer->scope) > 0 && shared_across(r.buffer->scope, loop);
  };
  return std::any_of(copy.reads.begin(), copy.reads.end(), shared) ||
         std::any_of(copy.writes.begin(), copy.writes.end(), shared);
}

}  // namespace tilewright::ir
