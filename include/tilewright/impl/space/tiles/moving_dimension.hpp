// The dimension of an operand, or of a result, that moves along a variable of a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/extents.hpp>
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

/// The dimension of the block's output along which this iteration variable takes single steps, other
/// variables only multiples of its extent, and which no other dimension depends on.
inline std::optional<std::size_t> output_dimension(const ir::block_node& b, std::size_t iter) {
  const ir::store_node* store = ir::as_store(b.body);
  if (!store) return std::nullopt;
  const ir::var& v = b.iters[iter].var;
  const std::int64_t extent = ir::as_int(b.iters[iter].dom.extent);
  std::optional<std::size_t> out;
  for (std::size_t d = 0; d < store->indices.size(); ++d) {
    if (!ir::uses_var(store->indices[d], v)) continue;
    const arith::linear index = arith::to_linear(store->indices[d]);
    for (const auto& [term, step] : index.terms)
      if (term.same(v) ? step != 1 : step % extent != 0) return std::nullopt;
    if (out || index.coefficient(v) != 1) return std::nullopt;
    out = d;
  }
  return out;
}

}  // namespace tilewright::space::detail
