// Nests that are no boxes: loops whose bounds follow other loops or data, and domains that do.
#pragma once

#include <algorithm>
#include <string>

#include <tilewright/ir/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/analysis.hpp>

namespace tilewright::primitive::detail {

/// Whether one of the loops around the block, from position `first` on, occurs in the expression.
inline bool follows(const ir::expr& e, const child_block& child, std::size_t first = 0) {
  return e->op != ir::op::integer &&
         std::any_of(child.loops.begin() + static_cast<std::ptrdiff_t>(first), child.loops.end(),
                     [&](const ir::loop_node* l) { return ir::uses_var(e, l->var); });
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

}  // namespace tilewright::primitive::detail
