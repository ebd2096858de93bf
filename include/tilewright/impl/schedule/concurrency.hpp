// Loops whose iterations run at once.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive::detail {

/// On other threads or in other lanes, and more than one of them.
inline bool runs_at_once(const ir::loop_node& loop) {
  const bool kind = loop.loop == ir::loop_kind::parallel ||
                    loop.loop == ir::loop_kind::vectorized ||
                    loop.loop == ir::loop_kind::thread_binding;
  return kind && !ir::is_int(loop.extent, 1);
}

}  // namespace tilewright::primitive::detail
