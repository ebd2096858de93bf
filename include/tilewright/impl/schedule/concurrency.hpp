// Loops whose iterations run at once.
#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/impl/schedule/driven_loops.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/tvm_refusals.hpp>

namespace tilewright::primitive::detail {

/// On other threads or in other lanes, and more than one of them.
inline bool runs_at_once(const ir::loop_node& loop) {
  const bool kind = loop.loop == ir::loop_kind::parallel ||
                    loop.loop == ir::loop_kind::vectorized ||
                    loop.loop == ir::loop_kind::thread_binding;
  return kind && !ir::is_int(loop.extent, 1);
}

/// Whether iterations that run at once of some loop around the block write the same elements.
inline bool written_at_once(const block_scope& scope, std::size_t child) {
  for (std::size_t l = 0; l < scope[child].loops.size(); ++l)
    if (runs_at_once(*scope[child].loops[l]) && !writes_apart(scope, child, l)) return true;
  return false;
}
inline bool written_at_once(const ir::function& f, std::uint64_t block) {
  const path at = find_block(f, block);
  const block_scope scope(*at.scope()->block);
  return written_at_once(scope, static_cast<std::size_t>(scope.find(block)));
}

/// A loop around the block, from position `first` on, whose iterations run at once and have what the
/// block writes each for itself; null if there is none. Nests that part there would share it.
inline const ir::loop_node* private_loop(const child_block& c, std::size_t first) {
  if (as_tvm()) return nullptr;
  const driven_loops driven(c);
  for (std::size_t l = first; l < c.loops.size(); ++l)
    if (runs_at_once(*c.loops[l]) && !(c.block().init && driven.other[l]) &&
        !iterations_apart(c, l))
      return c.loops[l];
  return nullptr;
}

/// A block whose result the reader finds although iterations that run at once write the same
/// elements of it, which they had for themselves as long as nobody outside of their loop read them;
/// -1 if there is none.
inline int racing_writer(const block_scope& scope, std::size_t reader) {
  if (as_tvm()) return -1;
  const auto reads = [&](const ir::buffer_region& w) {
    const std::vector<ir::buffer_region>& list = scope[reader].block().reads;
    return std::any_of(list.begin(), list.end(),
                       [&](const ir::buffer_region& r) { return r.buffer == w.buffer; });
  };
  for (std::size_t w = 0; w < scope.size(); ++w) {
    const std::vector<ir::buffer_region>& writes = scope[w].block().writes;
    if (w != reader && std::any_of(writes.begin(), writes.end(), reads) &&
        written_at_once(scope, w))
      return static_cast<int>(w);
  }
  return -1;
}

/// The same after a primitive.
inline int racing_writer(const ir::function& f, std::uint64_t reader) {
  const path at = find_block(f, reader);
  const block_scope scope(*at.scope()->block);
  return racing_writer(scope, static_cast<std::size_t>(scope.find(reader)));
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

/// Whether the iterations of the loops run one after the other.
inline bool in_order(const std::vector<const ir::loop_node*>& loops) {
  return std::all_of(loops.begin(), loops.end(), [](const ir::loop_node* l) {
    return l->loop == ir::loop_kind::serial || l->loop == ir::loop_kind::unrolled;
  });
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
