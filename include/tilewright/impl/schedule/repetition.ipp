#pragma once

#include <algorithm>

#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/repetition.hpp>

namespace tilewright::primitive {
namespace detail::repetition {

/// Every loop from `first` on occurs as a plain digit, and none under a quotient or remainder: then
/// an affine binding uses each loop once and as a whole.
inline bool uses_whole_loops(const child_block& child, std::size_t first) {
  std::vector<char> seen(child.loops.size(), 0);
  for (const ir::expr& value : child.realize->values)
    for (const auto& [term, factor] : arith::to_linear(value).terms) {
      if (!ir::is_var(term)) return false;
      for (std::size_t l = first; l < child.loops.size(); ++l)
        if (child.loops[l]->var.same(term)) seen[l] = 1;
    }
  for (std::size_t l = first; l < child.loops.size(); ++l)
    if (!seen[l] && !ir::is_int(child.loops[l]->extent, 1)) return false;
  return true;
}

}  // namespace detail::repetition

TILEWRIGHT_INLINE bool runs_once(const child_block& child, std::size_t first) {
  if (detail::repetition::uses_whole_loops(child, first)) return true;
  arith::analyzer known;
  for (std::size_t l = 0; l < first; ++l)
    known.bind(child.loops[l]->var, ir::range{child.loops[l]->min, child.loops[l]->extent});
  return arith::detect_iter_map(child.realize->values, domains(child.loops, first),
                                child.realize->predicate, arith::iter_map_level::bijective, known)
      .has_value();
}

}  // namespace tilewright::primitive
