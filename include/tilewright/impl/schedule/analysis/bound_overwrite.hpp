// Bounds of loops that are loaded, and what the statements below the loop do to them.
#pragma once

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail {

/// A buffer that the bounds of the loop are loaded from and that a statement of the body writes, so
/// that it matters when they are evaluated; null if there is none.
inline ir::buffer overwritten_bound(const ir::loop_node& loop, const ir::stmt& body) {
  ir::buffer found;
  if (!ir::reads_memory(loop.min) && !ir::reads_memory(loop.extent)) return found;
  const auto note = [&](const ir::buffer& written) {
    if (ir::loads_from(loop.min, written) || ir::loads_from(loop.extent, written)) found = written;
  };
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) note(store->buffer);
    if (const ir::block_realize_node* r = ir::as_realize(s))
      for (const ir::buffer_region& w : r->block->writes) note(w.buffer);
  });
  return found;
}

}  // namespace tilewright::primitive::detail
