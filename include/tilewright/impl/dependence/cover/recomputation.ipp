#pragma once

#include <algorithm>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/injective_binding.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/cover/recomputation.hpp>

namespace tilewright::dependence {
namespace repetition {

/// Every loop from `first` on occurs as a plain digit, and none under a quotient or remainder: then
/// an affine binding uses each loop once and as a whole. The loops before `first` stand still.
inline bool uses_whole_loops(const child_block& child, std::size_t first) {
  std::vector<char> seen(child.loops.size(), 0);
  for (const arith::linear& value : bind_iters(child).values)
    for (const auto& [term, factor] : value.terms) {
      const int loop = ir::is_var(term) ? loop_index(child.loops, term) : -1;
      if (loop >= 0)
        seen[static_cast<std::size_t>(loop)] = 1;
      else if (!ir::is_var(term) && uses_loops_from(term, child, first))
        return false;
    }
  for (std::size_t l = first; l < child.loops.size(); ++l)
    if (!seen[l] && !ir::is_int(child.loops[l]->extent, 1)) return false;
  return true;
}

}  // namespace repetition

TILEWRIGHT_INLINE bool runs_once(const child_block& child, std::size_t first) {
  return (repetition::uses_whole_loops(child, first) && is_affine_binding(child, first)) ||
         bindings::injective(child, first);
}

}  // namespace tilewright::dependence
