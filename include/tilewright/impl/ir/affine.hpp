// The little affine arithmetic that the parser needs: extents of `start:stop` and inferred regions.
// Room arith has the real simplifier; it stands above this room.
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

affine to_affine(const expr& e);
expr from_affine(const affine& a);
/// a - b when it is a literal.
std::optional<std::int64_t> literal_difference(const expr& a, const expr& b);
/// a - b, simplified as an affine sum.
expr affine_difference(const expr& a, const expr& b);
/// The extent e for which [start, stop) is [start, start + e).
expr extent_between(const expr& start, const expr& stop);

}  // namespace tilewright::ir::detail
