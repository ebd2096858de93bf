// Instances that run in another order, and inits that run ahead of the nest of their reduction, no
// longer with the first instance of each result.
#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/reads.hpp>
#include <tilewright/schedule/analysis.hpp>

namespace tilewright::primitive::detail {

/// A buffer of which an instance reads elements that others write, or may; null if there is none.
inline ir::buffer read_of_others(const ir::block_node& b) {
  const auto same = [](const ir::range& x, const ir::range& y) {
    return arith::same_value(x.min, y.min) && arith::same_value(x.extent, y.extent);
  };
  for (const ir::buffer_region& w : b.writes)
    for (const ir::buffer_region& r : b.reads)
      if (r.buffer == w.buffer && !std::equal(r.box.begin(), r.box.end(), w.box.begin(), same))
        return r.buffer;
  return {};
}

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
