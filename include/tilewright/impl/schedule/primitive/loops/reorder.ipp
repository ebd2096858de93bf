#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/binding/element_index.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/carried_reads.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/iteration_sharing.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/primitive/loops/reorder.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/support/numbers/radix.hpp>

namespace tilewright::primitive {
namespace detail::reordering {

inline constexpr refusal refuse{"reorder"};

inline bool contains(const std::vector<ir::var>& loops, const ir::var& v) {
  return support::any(loops, [&](const ir::var& l) { return l.same(v); });
}

inline bool leads_through(const path& p, const ir::var& loop) {
  return support::any(p.slots, [&](const ir::stmt* slot) {
    const ir::loop_node* l = ir::as_loop(*slot);
    return l && l->var.same(loop);
  });
}

/// Path to the innermost of the loops, after requirements 0 and 1.
inline path innermost(const ir::function& f, const std::vector<ir::var>& loops) {
  path deepest;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    path at;
    if (!leads_through(deepest, loops[i])) at = need_loop(f, loops[i], "reorder");
    for (std::size_t j = 0; j < i; ++j)
      if (loops[i].same(loops[j])) refuse(1, {"loop \"", loops[i]->name, "\" is named twice"});
    if (at.slots.size() > deepest.slots.size()) deepest = std::move(at);
  }
  return deepest;
}

/// The chain from the outermost to the innermost of the loops, and the path to its head.
struct chain {
  path head;
  loop_nest loops;
};

inline chain find_chain(path to_innermost, const std::vector<ir::var>& loops) {
  chain out;
  std::size_t found = 0, first = to_innermost.slots.size();
  while (found < loops.size() && first-- > 0) {
    const ir::loop_node* loop = ir::as_loop(*to_innermost.slots[first]);
    if (!loop) {
      const bool scope = (*to_innermost.slots[first])->kind == ir::stmt_kind::block_realize;
      refuse(2,
             {scope ? "the loops belong to different blocks or nests"
                    : "between the loops stand other statements, so that they are not one chain"});
    }
    if (contains(loops, loop->var)) ++found;
    out.loops.push_back(loop);
  }
  if (found < loops.size()) refuse(2, "the loops are not one chain");
  std::reverse(out.loops.begin(), out.loops.end());
  to_innermost.slots.resize(first + 1);
  out.head = std::move(to_innermost);
  return out;
}

inline loop_nest permuted(const loop_nest& chain, const std::vector<ir::var>& order) {
  loop_nest out = chain;
  std::size_t next = 0;
  for (const ir::loop_node*& place : out)
    if (contains(order, place->var)) {
      const ir::var& wanted = order[next++];
      place = *support::find(chain, [&](const ir::loop_node* n) { return n->var.same(wanted); });
    }
  return out;
}

inline void check_ranges(const loop_nest& order) {
  for (std::size_t outer = 0; outer < order.size(); ++outer) {
    if (ir::is_int(order[outer]->min) && ir::is_int(order[outer]->extent)) continue;
    for (std::size_t inner = outer + 1; inner < order.size(); ++inner)
      if (bounds_use(*order[outer], order[inner]->var))
        refuse(3, {"the range of ", quoted(*order[outer]), " uses ", quoted(*order[inner]),
                   ", which would be further inside"});
  }
}

/// A result must be initialised by the first of its instances to run.
inline void check_first_instances(const child_block& child, std::size_t at,
                                  const loop_nest& order) {
  if (!child.block().init) return;
  const std::vector<std::size_t> mixed = mixed_loops(child);
  std::size_t next = 0;
  for (std::size_t l = 0; l < child.loops.size() && mixed.size() > 1; ++l) {
    const ir::loop_node* now = l >= at && l - at < order.size() ? order[l - at] : child.loops[l];
    const bool is_mixed = support::any(mixed, [&](std::size_t m) { return child.loops[m] == now; });
    if (is_mixed && child.loops[mixed[next++]] != now)
      refuse(6, {quoted(*now), " drives spatial and reduce iterators of ", quoted(child.block()),
                 "; its place among such loops decides what initialises a result"});
  }
}

/// A reduction that is repeated is repeated as a whole: loops pass loops that drive the reduction
/// only where every instance runs once.
inline void check_repetition(const child_block& child, std::size_t at, const loop_nest& order) {
  if (!child.block().init) return;
  std::vector<std::size_t> place;  // of each loop now
  for (const ir::loop_node* loop : order)
    place.push_back(static_cast<std::size_t>(loop_index(child.loops, loop->var)));
  const driven_loops driven(child);
  bool passes = false;
  for (std::size_t a = 0; a < place.size() && !passes; ++a)
    for (std::size_t b = a + 1; b < place.size() && !passes; ++b)
      passes = place[a] > place[b] && driven.other[place[a]] != driven.other[place[b]];
  if (passes && !runs_once(child, at) && !runs_once(unguarded(child).child, at))
    refuse(7, {quoted(child.block()),
               " repeats its reduction in some of the loops; these must stay "
               "outside of the ones that drive the reduction"});
}

/// A sum of loops from position `first` on without gaps: larger steps may be shorter than the
/// smaller ones reach, as the border that `compute_at` adds to a tile makes them.
inline bool is_overlapping_sum(const arith::linear& value, const child_block& child,
                               std::size_t first, std::vector<int>& used) {
  support::radix steps;
  for (const auto& [term, factor] : value.terms) {
    const int index = ir::is_var(term) ? loop_index(child.loops, term) : -1;
    if (index < 0 && uses_loops_from(term, child, first)) return false;
    if (index < static_cast<int>(first)) continue;
    const ir::loop_node& l = *child.loops[static_cast<std::size_t>(index)];
    if (factor <= 0 || !ir::is_int(l.extent) || !ir::is_int(l.min, 0)) return false;
    if (used[static_cast<std::size_t>(index)]++) return false;
    if (ir::as_int(l.extent) > 1) steps.add(factor, ir::as_int(l.extent));
  }
  return !steps.has_gaps();
}

/// The block visits intervals, some values perhaps again.
inline bool is_overlapping_binding(const child_block& child, std::size_t first) {
  if (!ir::is_true(child.realize->predicate)) return false;
  std::vector<int> used(child.loops.size(), 0);
  const bound_iters& iters = bind_iters(child);
  return iters.understood && support::all(iters.values, [&](const arith::linear& value) {
           return is_overlapping_sum(value, child, first, used);
         });
}

/// The guard leaves out some terms of a reduction, of those that an affine binding visits.
inline bool is_affine_but_for_guard(const child_block& child, std::size_t first) {
  const ir::expr& guard = child.realize->predicate;
  return child.block().init && !ir::is_true(guard) && !ir::reads_memory(guard) &&
         is_affine_binding(unguarded(child).child, first);
}

/// Writes of the same elements keep their order: those of different blocks, of a block that writes
/// some more than once, and of one that uses the loop without a variable; so do a block's reads of
/// what other instances of it write.
inline void check_writes(const block_scope& scope, const ir::loop_node& loop) {
  if (ir::is_int(loop.extent, 1)) return;
  for (std::size_t a = 0; a < scope.size(); ++a) {
    const int at = loop_index(scope[a].loops, loop.var);
    if (at < 0) continue;
    const auto place = static_cast<std::size_t>(at);
    const auto check = [&](const ir::buffer_region& w, std::size_t b, const ir::buffer_region& r) {
      if (!may_overlap(scope[a].block(), w, scope[b].block(), r) ||
          share_within_iterations(scope[a], w, scope[b], r, place))
        return;
      refuse(8, {quoted(scope[a].block()), " writes elements of \"", w.buffer->name, "\" that ",
                 quoted(scope[b].block()), " touches in another iteration of ", quoted(loop)});
    };
    const bool free = scope[a].block().iters.empty() && used_inside(scope[a]);
    const bool again = free || !writes_once(scope[a]);
    for (const ir::buffer_region& w : scope[a].block().writes) {
      for (std::size_t b = again ? a : a + 1; b < scope.size(); ++b)
        if (loop_index(scope[b].loops, loop.var) >= 0)
          for (const ir::buffer_region& other : scope[b].block().writes) check(w, b, other);
      for (const ir::buffer_region& r : scope[a].block().reads) {
        if (r.buffer != w.buffer) continue;
        if (free || !same_box(w, r)) check(w, a, r);
        for (std::size_t b = 0; b < scope.size(); ++b)  // they see how far the updates have come
          if (b != a && loop_index(scope[b].loops, loop.var) >= 0)
            for (const ir::buffer_region& seen : scope[b].block().reads) check(w, b, seen);
      }
    }
  }
}

inline void check_blocks(const path& head, const loop_nest& order) {
  const ir::loop_node* outermost = ir::as_loop(head.target());
  const block_scope scope(*head.scope()->block);
  for (const child_block& child : scope.children()) {
    const auto at = std::find(child.loops.begin(), child.loops.end(), outermost);
    if (at == child.loops.end()) continue;
    const ir::block_node& block = child.block();
    for (const ir::iter_var& iter : block.iters)
      if (iter.kind != ir::iter_kind::spatial && iter.kind != ir::iter_kind::reduce)
        refuse(4, {quoted(block), " has an iterator that must run in order"});
    const auto first = static_cast<std::size_t>(at - child.loops.begin());
    if (!is_affine_binding(child, first) && !is_overlapping_binding(child, first) &&
        !is_affine_but_for_guard(child, first))
      refuse(5, {quoted(block), " has bindings that are not affine below ", quoted(*outermost)});
    if (block.init && reads_other_results(block))
      refuse(8, {quoted(block), " reads other elements of its result than it updates"});
    check_first_instances(child, first, order);
    check_repetition(child, first, order);
  }
  for (const ir::loop_node* loop : order)
    if (const int block = carried_dependence(scope, loop->var); block >= 0)
      refuse(8, {quoted(scope[block].block()), " reads what a block below ", quoted(*loop),
                 " writes in another iteration"});
  for (const ir::loop_node* loop : order) {
    check_writes(scope, *loop);
    if (const ir::buffer b = overwritten_bound(*loop, loop->body); b)
      refuse(8, {quoted(*loop), " overwrites \"", b->name, "\", from which its bounds are loaded"});
  }
}

}  // namespace detail::reordering

TILEWRIGHT_INLINE ir::function reorder(const ir::function& f, const std::vector<ir::var>& loops) {
  path to_innermost = detail::reordering::innermost(f, loops);
  if (loops.size() < 2) return f;
  const auto chain = detail::reordering::find_chain(std::move(to_innermost), loops);
  const auto order = detail::reordering::permuted(chain.loops, loops);
  detail::reordering::check_ranges(order);
  detail::reordering::check_blocks(chain.head, order);
  return replace(f, chain.head, nest_around(order, chain.loops.back()->body));
}

}  // namespace tilewright::primitive
