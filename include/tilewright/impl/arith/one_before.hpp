// Elements that follow each other as a loop goes on.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/expr.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {

/// Whether the element at `stored` is, in each iteration of `v`, the one that is at `at` in the next iteration.
inline bool is_one_before(const ir::expr& v, const std::vector<ir::expr>& at,
                          const std::vector<ir::expr>& stored) {
  const ir::expr next = v + ir::integer(v.type(), 1);
  for (std::size_t d = 0; d < at.size() && d < stored.size(); ++d)
    if (!same_value(ir::substitute(at[d], {{v, next}}), stored[d])) return false;
  return at.size() == stored.size();
}

}  // namespace tilewright::arith
