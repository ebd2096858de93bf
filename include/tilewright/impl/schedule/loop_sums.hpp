// Sums over the loops around a block, for what finds footprints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/schedule/footprint.hpp>

namespace tilewright::primitive::detail::footprints {

using arith::bounds;
using arith::linear;

inline linear constant(std::int64_t value, dtype type) {
  linear out;
  out.constant = value;
  out.type = type;
  return out;
}

inline arith::analyzer knowing(const std::vector<const ir::loop_node*>& loops) {
  arith::analyzer known;
  known.bind(domains(loops));
  return known;
}

/// Whether a quotient or remainder of x lies in [0, limit) where x runs over `run`: x % n in n
/// values, x // n in m where x takes m * n of them from 0 on. Extents are positive.
inline bool digit_within(const ir::expr& digit, const ir::expr& limit, const ir::range& run) {
  if (digit->op == ir::op::floormod) return arith::same_value(digit->args[1], limit);
  return digit->op == ir::op::floordiv && run.min && ir::is_int(run.min, 0) &&
         arith::same_value(run.extent, limit * digit->args[1]);
}

/// a + b * factor where the terms cancel out.
inline std::optional<std::int64_t> constant_sum(const linear& a, const linear& b,
                                                std::int64_t factor) {
  if (a.terms.size() != b.terms.size()) return std::nullopt;
  for (const auto& [term, coefficient] : a.terms) {
    bool cancels = false;
    for (const auto& [other, c] : b.terms)
      if (coefficient + c * factor == 0 &&
          (other.same(term) || (!ir::is_var(term) && arith::same_value(other, term)))) {
        cancels = true;
        break;
      }
    if (!cancels) return std::nullopt;
  }
  return a.constant + b.constant * factor;
}

}  // namespace tilewright::primitive::detail::footprints
