// Inits that run ahead of the nest of their reduction, no longer with the first instance of each
// result.
#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/ir/reads.hpp>
#include <tilewright/schedule/analysis.hpp>

namespace tilewright::primitive::detail {

/// What an early init loads: itself, and where and how often it runs.
struct early_init {
  ir::stmt body;
  std::vector<ir::expr> around;  // bounds of the loops that it keeps, its guard, its values

  bool loads(const ir::buffer& x) const {
    return ir::loads_from(body, x) ||
           std::any_of(around.begin(), around.end(),
                       [&](const ir::expr& e) { return ir::loads_from(e, x); });
  }
  /// Whether it loads something that the block writes.
  bool loads_from(const ir::block_node& writer) const {
    return std::any_of(writer.writes.begin(), writer.writes.end(),
                       [&](const ir::buffer_region& w) { return loads(w.buffer); });
  }
};

}  // namespace tilewright::primitive::detail
