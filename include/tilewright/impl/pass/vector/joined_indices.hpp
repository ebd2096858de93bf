// Indices that are digits of one number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/expr.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright::pass::detail {

/// Indices with `x + g // n` and `g % n` behind it joined to `x * n + g`, which tells the same elements apart:
/// pixels and channels that lanes run over together.
inline std::vector<ir::expr> joined_indices(std::vector<ir::expr> indices) {
  for (std::size_t d = indices.size(); d-- > 1;) {
    const ir::expr& low = indices[d];
    if (low->op != ir::op::floormod || !ir::is_int(low->args[1])) continue;
    const std::int64_t n = ir::as_int(low->args[1]);
    arith::linear high = arith::to_linear(indices[d - 1]);
    const auto quotient = support::find(high.terms, [&](const auto& t) {
      return t.second == 1 && t.first->op == ir::op::floordiv && ir::is_int(t.first->args[1], n) &&
             arith::same_value(t.first->args[0], low->args[0]);
    });
    if (n < 1 || quotient == high.terms.end()) continue;
    high.terms.erase(quotient);
    indices[d - 1] = arith::from_linear(high) * ir::integer(low.type(), n) + low->args[0];
    indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(d));
  }
  return indices;
}

}  // namespace tilewright::pass::detail
