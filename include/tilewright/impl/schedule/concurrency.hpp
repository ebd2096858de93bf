// Loops whose iterations run at once.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail {

/// On other threads or in other lanes, and more than one of them.
inline bool runs_at_once(const ir::loop_node& loop) {
  const bool kind = loop.loop == ir::loop_kind::parallel ||
                    loop.loop == ir::loop_kind::vectorized ||
                    loop.loop == ir::loop_kind::thread_binding;
  return kind && !ir::is_int(loop.extent, 1);
}

/// Whether the loop, one of those around the target, or one below it starts the threads that the
/// buffer belongs to: a nest beside it is run by others, which find nothing there.
inline bool threads_begin_at(const path& at, const ir::loop_node& loop, const ir::buffer& x) {
  if (storage_rank(x->scope) <= 0) return false;
  bool below = false;
  for (const ir::loop_node* l : at.all_loops()) {
    below = below || l == &loop;
    if (l->loop == ir::loop_kind::thread_binding) return below;
  }
  return false;
}

/// The loop whose threads make the copy of a block together, as `auto_copy` says; null when it is
/// an ordinary copy.
inline const ir::loop_node* copied_together(const path& at) {
  const ir::block_node& b = *ir::as_realize(at.target())->block;
  for (const ir::loop_node* l : at.all_loops())
    for (const auto* regions : {&b.reads, &b.writes})
      for (const ir::buffer_region& r : *regions)
        if (runs_at_once(*l) && r.buffer->scope != "global" && shared_across(r.buffer->scope, *l))
          return l;
  return nullptr;
}

}  // namespace tilewright::primitive::detail
