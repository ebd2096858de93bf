// Loops of one nest that are bound to the same axis of threads.
#pragma once

#include <string>

#include <tilewright/impl/schedule/analysis/divergence.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive::detail {

/// Whether the loop at the end of the path is as long as the loop `outer` around it, and does the same
/// in all iterations of that one: it uses nothing that its variable decides, and reads nothing that
/// others write below it.
inline bool repeats_within(const path& inner, const ir::loop_node& outer) {
  const ir::loop_node& loop = *ir::as_loop(inner.target());
  if (!ir::equal(loop.min, outer.min) || !ir::equal(loop.extent, outer.extent)) return false;
  differing_values values(outer, inner.target());
  values.add(outer.var);
  bool below = false;
  for (const ir::stmt* s : inner.slots) {
    if (below) values.follow(*s);
    below = below || ir::as_loop(*s) == &outer;
  }
  return !values.decide(inner.target());
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
  ir::any_stmt(loop.body, [&](const ir::stmt& s) {
    const ir::loop_node* inner = ir::as_loop(s);
    if (!inner || !is_bound(*inner)) return false;
    const path there = find_loop(f, inner->var);
    if (there && !repeats_within(there, loop)) found = inner;
    return found != nullptr;
  });
  return found;
}

}  // namespace tilewright::primitive::detail
