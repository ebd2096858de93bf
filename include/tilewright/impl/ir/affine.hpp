// Expressions as affine sums, below room arith, which has the real simplifier: the parser asks for
// extents of `start:stop` and inferred regions, the interpreter for the terms that it adds up, the
// front end for how far apart two indices are.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/expr.hpp>

namespace tilewright::ir::detail {

/// constant + sum of factor * atom; atoms are whatever is not a sum or a product with a literal.
struct affine {
  dtype type = dtype::i32;
  std::vector<std::pair<expr, std::int64_t>> terms;  // different atoms, no zero factors
  std::int64_t constant = 0;
};

/// Gives the parts of factor * e to `sink`: sink.add(factor, atom) for each atom, equal ones again,
/// and sink.add(number). Numbers wrap, as those of the expression do.
template <class Sink>
void add_parts(const expr& e, std::int64_t factor, Sink& sink) {
  const auto times = [&](std::int64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(factor) *
                                     static_cast<std::uint64_t>(by));
  };
  switch (e->op) {
    case op::integer: return sink.add(times(e->integer));
    case op::add:
    case op::sub:
      add_parts(e->args[0], factor, sink);
      return add_parts(e->args[1], e->op == op::add ? factor : times(-1), sink);
    case op::mul:
      if (is_int(e->args[1])) return add_parts(e->args[0], times(e->args[1]->integer), sink);
      if (is_int(e->args[0])) return add_parts(e->args[1], times(e->args[0]->integer), sink);
      break;
    default: break;
  }
  sink.add(factor, e);
}

affine to_affine(const expr& e);
expr from_affine(const affine& a);
/// a - b when it is a literal.
std::optional<std::int64_t> literal_difference(const expr& a, const expr& b);
/// a - b, simplified as an affine sum.
expr affine_difference(const expr& a, const expr& b);
/// The extent e for which [start, stop) is [start, start + e).
expr extent_between(const expr& start, const expr& stop);

}  // namespace tilewright::ir::detail
