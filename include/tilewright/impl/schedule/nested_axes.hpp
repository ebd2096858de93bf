// Loops of one nest that are bound to the same axis of threads.
#pragma once

#include <set>
#include <string>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail {

/// The buffers that are stored to below the loop, but not in the statement inside of it.
inline std::set<const ir::buffer_node*> stored_beside(const ir::loop_node& loop,
                                                      const ir::stmt& inside) {
  std::set<const ir::store_node*> own;
  std::set<const ir::buffer_node*> out;
  ir::for_each_stmt(inside, [&](const ir::stmt& s) { own.insert(ir::as_store(s)); });
  ir::for_each_stmt(loop.body, [&](const ir::stmt& s) {
    const ir::store_node* store = ir::as_store(s);
    if (store && own.count(store) == 0) out.insert(store->buffer.get());
  });
  return out;
}

/// Whether the loop at the end of the path is as long as the loop `outer` around it, and does the same
/// in all iterations of that one: it uses nothing that its variable decides, and reads nothing that
/// others write below it.
inline bool repeats_within(const path& inner, const ir::loop_node& outer) {
  const ir::loop_node& loop = *ir::as_loop(inner.target());
  if (!ir::equal(loop.min, outer.min) || !ir::equal(loop.extent, outer.extent)) return false;
  ir::var_set differ{outer.var};
  bool below = false;
  for (const ir::stmt* s : inner.slots) {
    const ir::let_node* let = below ? ir::as_let(*s) : nullptr;
    if (let && ir::uses_any(let->value, differ)) differ.insert(let->var);
    const ir::block_realize_node* r = below ? ir::as_realize(*s) : nullptr;
    for (std::size_t i = 0; r && i < r->values.size(); ++i)
      if (ir::uses_any(r->values[i], differ)) differ.insert(r->block->iters[i].var);
    below = below || ir::as_loop(*s) == &outer;
  }
  const std::set<const ir::buffer_node*> written = stored_beside(outer, inner.target());
  bool repeats = true;
  ir::for_each_expr(inner.target(), [&](const ir::expr& e) {
    repeats =
        repeats && differ.count(e) == 0 && (!e->buffer || written.count(e->buffer.get()) == 0);
  });
  return repeats;
}

/// A loop around or below the one at the end of the path that is bound to the axis, where the two do
/// not share its threads: a thread has one place on the axis, so that of the nest it runs only where
/// both are there. Fetches that all iterations of the outer loop need are shared. Null when there is
/// none.
inline const ir::loop_node* same_axis(const ir::function& f, const path& at,
                                      const std::string& axis) {
  const auto is_bound = [&](const ir::loop_node& l) {
    return l.loop == ir::loop_kind::thread_binding && l.thread_tag == axis;
  };
  const ir::loop_node& loop = *ir::as_loop(at.target());
  for (const ir::loop_node* outer : at.all_loops())
    if (is_bound(*outer) && !repeats_within(at, *outer)) return outer;
  const ir::loop_node* found = nullptr;
  ir::for_each_stmt(loop.body, [&](const ir::stmt& s) {
    const ir::loop_node* inner = found ? nullptr : ir::as_loop(s);
    if (!inner || !is_bound(*inner)) return;
    if (const path there = find_loop(f, inner->var); there && !repeats_within(there, loop))
      found = inner;
  });
  return found;
}

}  // namespace tilewright::primitive::detail
