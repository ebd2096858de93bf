#pragma once

#include <tilewright/arith/scoped_visitor.hpp>
#include <tilewright/impl/arith/inside.hpp>

namespace tilewright::arith {

// the bounds of a loop also count where they leave it no iterations
TILEWRIGHT_INLINE void scoped_visitor::visit(const ir::stmt& s) {
  if (const ir::loop_node* loop = ir::as_loop(s)) {
    visit(loop->min);
    visit(loop->extent);
    const detail::inside here(known, *loop);
    visit(loop->body);
  } else if (const ir::if_node* n = ir::as_if(s)) {
    visit(n->condition);
    {
      const detail::inside here(known, n->condition, n->then_body);
      visit(n->then_body);
    }
    if (!n->else_body) return;
    const detail::inside here(known, ir::logical_not(n->condition), n->else_body);
    visit(n->else_body);
  } else {
    ir::visitor::visit(s);
  }
}

TILEWRIGHT_INLINE void scoped_visitor::visit(const ir::block& b) {
  if (b->iters.empty()) return visit_bound(b);
  const detail::inside here(known, *b);
  visit_bound(b);
}

}  // namespace tilewright::arith
