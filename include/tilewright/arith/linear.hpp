// Integer expressions as sums: what index arithmetic is made of.
#pragma once

#include <cstdint>
#include <utility>

#include <tilewright/ir/expr.hpp>
#include <tilewright/support/short_vector.hpp>

namespace tilewright::arith {

/// constant + sum of term * coefficient. Terms are pairwise different, no sums and no literals; no
/// coefficient is 0; the order is that of first occurrence.
struct linear {
  support::short_vector<std::pair<ir::expr, std::int64_t>, 4> terms;
  std::int64_t constant = 0;
  dtype type = dtype::i32;

  bool is_constant() const noexcept { return terms.empty(); }
  /// Coefficient of `term` (compared structurally); 0 when it does not occur.
  std::int64_t coefficient(const ir::expr& term) const;
};

/// The sum that an i32 or i64 expression is; anything that is no sum becomes a single term. Casts
/// between i32 and i64 around variables are looked through.
linear to_linear(const ir::expr& e);

/// The expression of a sum: positive terms, negative terms, constant.
ir::expr from_linear(const linear& sum);

/// Same value by structure: variables by identity, sums and products up to the order of operands.
bool same_value(const ir::expr& a, const ir::expr& b);

}  // namespace tilewright::arith
