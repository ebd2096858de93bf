// Nests that are no boxes: loops whose bounds follow other loops or data, and domains that do.
//
// `uneven_loop` asks whether a nest can be run by other loops, `moves_unevenly` whether the part of
// it that moves writes a box, `writes_unevenly` the same of a nest inside of a block, guard included.
#pragma once

#include <algorithm>
#include <string>

#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/loads.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Whether one of the loops around the block, from position `first` on, occurs in the expression.
inline bool follows(const ir::expr& e, const child_block& child, std::size_t first = 0) {
  if (e->op == ir::op::integer) return false;
  for (std::size_t l = first; l < child.loops.size(); ++l)
    if (ir::uses_var(e, child.loops[l]->var)) return true;
  return false;
}

/// A loop around the block, from position `first` on, whose bounds follow another one of these or
/// are loaded, so that the instances below are no box; null if there is none.
inline const ir::loop_node* uneven_loop(const child_block& child, std::size_t first = 0) {
  for (std::size_t l = first; l < child.loops.size(); ++l)
    for (const ir::expr& e : {child.loops[l]->min, child.loops[l]->extent})
      if (e->op != ir::op::integer && (follows(e, child, first) || ir::reads_memory(e)))
        return child.loops[l];
  return nullptr;
}

/// An iteration variable whose domain is another one in every iteration of a loop around the block,
/// from position `first` on; null if there is none.
inline const ir::iter_var* following_a_loop(const child_block& child, std::size_t first = 0) {
  for (const ir::iter_var& v : child.block().iters)
    if (follows(v.dom.min, child, first) || follows(v.dom.extent, child, first)) return &v;
  return nullptr;
}

/// An iteration variable whose domain is loaded from what a block of the scope writes: where the scope
/// begins, and allocates, it is not known; null if there is none.
inline const ir::iter_var* following_results(const block_scope& scope, std::size_t child) {
  for (const ir::iter_var& v : scope[child].block().iters)
    if (loads_results(scope, v.dom.min) || loads_results(scope, v.dom.extent)) return &v;
  return nullptr;
}

/// Why the instances of the block are no box, so that no other loops can run the same; empty when
/// they are one.
inline std::string no_box(const child_block& child) {
  for (const ir::expr& value : child.realize->values)
    if (ir::reads_memory(value)) return "the value of an iteration variable is loaded";
  if (const ir::loop_node* uneven = uneven_loop(child))
    return "the bounds of loop \"" + uneven->var->name + "\" follow other loops or data";
  if (const ir::iter_var* v = following_a_loop(child))
    return "the domain of \"" + v->var->name + "\" follows a loop";
  return "";
}

/// Whether the bounds of a moving loop are loaded or follow another one that moves, so that no box
/// comes out, or may leave it without an iteration; or those of a standing loop follow one that moves,
/// so that it has iterations for a part of them.
inline bool moves_unevenly(const child_block& child, standing_loops standing) {
  const auto may_be_empty = [&](const ir::loop_node& loop) {
    return knowing(child.loops).const_bounds(loop.extent).lo < 1;
  };
  for (std::size_t l = 0; l < child.loops.size(); ++l) {
    const ir::loop_node& loop = *child.loops[l];
    if (ir::is_int(loop.extent) && ir::as_int(loop.extent) < 1 && standing.moves(child, l))
      return true;
    if (ir::is_int(loop.min) && ir::is_int(loop.extent)) continue;
    if (!standing.moves(child, l)) {
      for (std::size_t o = 0; o < l; ++o)
        if (standing.moves(child, o) && bounds_use(loop, child.loops[o]->var)) return true;
      continue;
    }
    if (bounds_load(loop)) return true;
    const driven_loops driven(child);
    for (std::size_t o = 0; o < l; ++o) {
      const ir::var& v = child.loops[o]->var;
      const bool by_extent = ir::uses_var(loop.extent, v);
      if (!by_extent && !ir::uses_var(loop.min, v)) continue;
      if (standing.moves(child, o) && driven.spatial[l]) return true;
      if (by_extent && may_be_empty(loop)) return true;
    }
    // a symbolic extent of what it drives is believed; else it may be of a block around the scope
    if (!driven.any(l) && may_be_empty(loop)) return true;
  }
  return false;
}

/// A loop that may have no iteration, as far as a loaded or constant extent says; symbolic extents are
/// believed. Null if there is none.
inline const ir::loop_node* maybe_empty(const loop_nest& loops) {
  for (const ir::loop_node* l : loops)
    if (ir::reads_memory(l->extent) || knowing(loops).const_bounds(l->extent).hi < 1) return l;
  return nullptr;
}

/// Whether a loop around the block may have no iteration while those outside of it run; a symbolic
/// extent is believed.
inline bool may_be_empty(const ir::loop_node& loop, const child_block& child) {
  const bool told =
      ir::is_int(loop.extent) || follows(loop.extent, child) || ir::reads_memory(loop.extent);
  return told && range_of(arith::to_linear(loop.extent), child.loops).lo < 1;
}

/// Whether the conjunct keeps a block inside of another one from writing elements that exist; those
/// that are cut off at an end of the buffer do not.
inline bool cuts_elements(const child_block& c, const ir::expr& conjunct,
                          const ir::buffer_region& w, const arith::analyzer& known) {
  const driven_loops driven(c);
  bool decides = false;  // which elements are written
  for (std::size_t l = 0; l < c.loops.size(); ++l)
    decides = decides || (driven.spatial[l] && ir::uses_var(conjunct, c.loops[l]->var));
  if (!decides || known.prove(conjunct)) return false;
  const auto room = footprints::not_negative(conjunct);
  if (!room) return true;
  const auto beyond = [&](const ir::range& dim, const ir::expr& shape) {
    const arith::linear first = in_loops(dim.min, c);
    arith::linear after = first;
    accumulate(after, *room);
    const auto last = footprints::constant_sum(after, arith::to_linear(shape), -1);
    const auto before = footprints::constant_sum(first, *room, -1);
    return (last && *last >= -1) ||
           (before && ir::is_int(dim.extent) && *before + ir::as_int(dim.extent) <= 1);
  };
  for (std::size_t d = 0; d < w.box.size(); ++d)
    if (beyond(w.box[d], w.buffer->shape[d])) return false;
  return true;
}

/// Whether a block inside of another one surely writes less than a box, as loops and conditions
/// around it say.
inline bool writes_unevenly(const child_block& c, const ir::block_node& around) {
  const auto follows_variable = [&](const ir::loop_node* l) {
    return support::any(around.iters, [&](const ir::iter_var& v) { return bounds_use(*l, v.var); });
  };
  if (c.conditional || ir::reads_memory(c.realize->predicate) || moves_unevenly(c, {0, {}}) ||
      support::any(c.loops, follows_variable))
    return true;
  arith::analyzer known = knowing(c.loops);
  known.bind(domains(around.iters));
  for (const ir::expr& conjunct : ir::conjuncts(c.realize->predicate))
    for (const ir::buffer_region& w : c.block().writes)
      if (cuts_elements(c, conjunct, w, known)) return true;
  return false;
}

}  // namespace tilewright::dependence
