// Bounds of loops that are loaded, and what the statements below the loop do to them.
#pragma once

#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::dependence {

/// A buffer that the bounds of the loop are loaded from and that a statement of the body writes, so
/// that it matters when they are evaluated; null if there is none.
inline ir::buffer overwritten_bound(const ir::loop_node& loop, const ir::stmt& body) {
  ir::buffer found;
  if (!bounds_load(loop)) return found;
  const auto note = [&](const ir::buffer& written) {
    if (bounds_load(loop, written)) found = written;
  };
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) note(store->buffer);
    if (const ir::block_realize_node* r = ir::as_realize(s))
      for (const ir::buffer_region& w : r->block->writes) note(w.buffer);
  });
  return found;
}

}  // namespace tilewright::dependence
