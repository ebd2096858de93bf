// Solved domains whose combinations do not all occur.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Whether two iteration variables are solved in terms of one loop, so that not every combination
/// of their values occurs.
inline bool solved_together(const std::vector<iter_domain>& solved, const loop_nest& loops) {
  return support::any(loops, [&](const ir::loop_node* l) {
    const auto follows = [&](const std::optional<arith::linear>& side) {
      return side && support::any(side->terms,
                                  [&](const auto& t) { return ir::uses_var(t.first, l->var); });
    };
    return std::count_if(solved.begin(), solved.end(),
                         [&](const iter_domain& d) { return follows(d.lo) || follows(d.hi); }) > 1;
  });
}

}  // namespace tilewright::dependence
