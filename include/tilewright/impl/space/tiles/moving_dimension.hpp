// The dimension of an operand that moves along a variable of a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

/// The dimension of a buffer that moves along a variable, and the elements from step to step.
struct moving_dimension {
  std::size_t dim = 0;
  std::int64_t step = 1;
  bool operator==(const moving_dimension&) const = default;
};

inline std::optional<moving_dimension> moving_in(const std::vector<ir::expr>& indices,
                                                 const ir::var& v) {
  std::optional<moving_dimension> out;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!ir::uses_var(indices[d], v)) continue;
    const arith::linear index = arith::to_linear(indices[d]);
    const auto hides = [&](const auto& term) {
      return !term.first.same(v) && ir::uses_var(term.first, v);
    };
    const std::int64_t step = index.coefficient(v);
    if (out || step < 1 || support::any(index.terms, hides)) return std::nullopt;
    out = moving_dimension{d, step};
  }
  return out;
}

/// The same dimension in all loads of the operand that move along the variable.
inline std::optional<moving_dimension> moving_along(const ir::block_node& b,
                                                    const ir::buffer& operand, const ir::var& v) {
  std::optional<moving_dimension> out;
  bool agree = true;
  ir::for_each_expr(b.body, [&](const ir::expr& e) {
    if (e->op != ir::op::load || e->buffer != operand || !agree) return;
    const auto moves = [&](const ir::expr& index) { return ir::uses_var(index, v); };
    if (support::none(e->args, moves)) return;
    const std::optional<moving_dimension> here = moving_in(e->args, v);
    agree = here && (!out || *out == *here);
    out = here;
  });
  return agree ? out : std::nullopt;
}

}  // namespace tilewright::space::detail
