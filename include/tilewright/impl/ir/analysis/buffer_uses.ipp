#pragma once

#include <tilewright/ir/analysis/buffer_uses.hpp>
#include <tilewright/ir/analysis/reads.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE void buffer_uses::visit(const expr& e) {
  if (!reads_memory(e) && e.type() != dtype::handle) return;  // most of a program: what indexes
  if (e->buffer) use(e->buffer);
  visitor::visit(e);
}

TILEWRIGHT_INLINE void buffer_uses::visit(const stmt& s) {
  if (const store_node* store = as_store(s)) use(store->buffer);
  visitor::visit(s);
}

TILEWRIGHT_INLINE void buffer_uses::visit(const block& b) {
  for (const iter_var& v : b->iters) {
    visit(v.dom.min);
    visit(v.dom.extent);
  }
  for (const match_buffer& m : b->match_buffers) {
    use(m.source.buffer);
    for (const range& dim : m.source.box) {
      visit(dim.min);
      visit(dim.extent);
    }
  }
  if (b->init) visit(b->init);
  visit(b->body);
}

}  // namespace tilewright::ir
