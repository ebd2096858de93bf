#pragma once

#include <utility>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/impl/arith/inside.hpp>

namespace tilewright::arith {

TILEWRIGHT_INLINE ir::stmt scoped_mutator::mutate(const ir::stmt& s) {
  if (const ir::loop_node* loop = ir::as_loop(s)) return mutate_loop(s, *loop);
  if (const ir::if_node* n = ir::as_if(s)) return mutate_if(s, *n);
  return ir::mutator::mutate(s);
}

TILEWRIGHT_INLINE ir::block scoped_mutator::mutate(const ir::block& b) {
  if (b->iters.empty()) return mutate_bound(b);
  const detail::inside here(known, *b);
  return mutate_bound(b);
}

// the bounds of a loop also count where they leave it no iterations
TILEWRIGHT_INLINE ir::stmt scoped_mutator::mutate_loop(const ir::stmt& s,
                                                       const ir::loop_node& loop) {
  ir::expr min = mutate(loop.min), extent = mutate(loop.extent);
  ir::stmt body;
  {
    const detail::inside here(known, loop);
    body = mutate(loop.body);
  }
  if (min.same(loop.min) && extent.same(loop.extent) && body == loop.body) return s;
  return ir::make_loop(loop.var, std::move(min), std::move(extent), std::move(body), loop.loop,
                       loop.annotations, loop.thread_tag);
}

TILEWRIGHT_INLINE ir::stmt scoped_mutator::mutate_if(const ir::stmt& s, const ir::if_node& n) {
  ir::expr condition = mutate(n.condition);
  ir::stmt then_body, else_body;
  {
    const detail::inside here(known, condition, n.then_body);
    then_body = mutate(n.then_body);
  }
  if (n.else_body) {
    const detail::inside here(known, ir::logical_not(condition), n.else_body);
    else_body = mutate(n.else_body);
  }
  if (condition.same(n.condition) && then_body == n.then_body && else_body == n.else_body) return s;
  return ir::make_if(std::move(condition), std::move(then_body), std::move(else_body));
}

}  // namespace tilewright::arith
