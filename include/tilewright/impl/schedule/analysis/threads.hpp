// Threads that loops on the way to a place start.
#pragma once

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// Whether the loop, one of those around the target, or one below it starts the threads that the
/// buffer belongs to: a nest beside it is run by others, which find nothing there.
inline bool threads_begin_at(const path& at, const ir::loop_node& loop, const ir::buffer& x) {
  if (ir::storage_rank(x->scope) <= 0) return false;
  bool below = false;
  for (const ir::loop_node* l : at.all_loops()) {
    below = below || l == &loop;
    if (l->loop == ir::loop_kind::thread_binding) return below;
  }
  return false;
}

/// Of what the block at the end of the path reads, a buffer that belongs to threads which a loop around
/// the block starts and which do not run what stands at the end of `to`; null when there is none.
inline ir::buffer left_with_threads(const path& from, const path& to) {
  const ir::loop_node* first = nullptr;
  for (const ir::loop_node* l : from.all_loops())
    if (!first && l->loop == ir::loop_kind::thread_binding) first = l;
  if (!first || support::contains(to.all_loops(), first)) return {};
  for (const ir::buffer_region& r : ir::as_realize(from.target())->block->reads)
    if (ir::storage_rank(r.buffer->scope) > 0) return r.buffer;
  return {};
}

/// The loop around the block at the end of the path whose threads make its copy jointly; null when
/// there is none.
inline const ir::loop_node* joint_loop(const path& at) {
  const ir::block_node& b = *ir::as_realize(at.target())->block;
  for (const ir::loop_node* l : at.all_loops())
    if (ir::copies_jointly(b, *l)) return l;
  return nullptr;
}

}  // namespace tilewright::primitive::detail
