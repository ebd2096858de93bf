// Loops whose iterations run at once.
#pragma once

#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// On other threads or in other lanes, and more than one of them.
inline bool runs_at_once(const ir::loop_node& loop) {
  const bool kind = loop.loop == ir::loop_kind::parallel ||
                    loop.loop == ir::loop_kind::vectorized ||
                    loop.loop == ir::loop_kind::thread_binding;
  return kind && !ir::is_int(loop.extent, 1);
}

/// Whether the iterations of the loops run one after the other.
inline bool in_order(const loop_nest& loops) {
  return support::all(loops, [](const ir::loop_node* l) {
    return l->loop == ir::loop_kind::serial || l->loop == ir::loop_kind::unrolled;
  });
}

}  // namespace tilewright::dependence
