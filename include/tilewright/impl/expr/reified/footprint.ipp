#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include <tilewright/expr/reified/footprint.hpp>
#include <tilewright/impl/ir/affine.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::dsl {
namespace detail {

/// All loads of one buffer, at one dimension.
inline ir::range span_of(const ir::buffer& buffer, const std::vector<ir::expr>& loads,
                         std::size_t d) {
  const ir::expr& base = loads.front()->args[d];
  const ir::expr& extent = buffer->shape[d];
  const ir::range whole{ir::integer(extent.type(), 0), extent};
  std::int64_t low = 0, high = 0;
  const ir::expr* lowest = &base;
  for (const ir::expr& load : loads) {
    const ir::expr& index = load->args[d];
    if (ir::reads_memory(index)) return whole;
    const auto difference = ir::detail::literal_difference(index, base);
    if (!difference) return whole;
    if (*difference < low) {
      low = *difference;
      lowest = &index;
    }
    high = std::max(high, *difference);
  }
  return {*lowest, ir::integer(base.type(), high - low + 1)};
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<ir::buffer_region> footprint(const std::vector<ir::expr>& values) {
  std::vector<std::pair<ir::buffer, std::vector<ir::expr>>> loads;
  for (const ir::expr& value : values)
    ir::for_each_expr(value, [&](const ir::expr& e) {
      if (e->op != ir::op::load) return;
      for (auto& [buffer, list] : loads)
        if (buffer == e->buffer) return list.push_back(e);
      loads.push_back({e->buffer, {e}});
    });
  std::vector<ir::buffer_region> out;
  for (const auto& [buffer, list] : loads) {
    ir::buffer_region region{buffer, {}};
    for (std::size_t d = 0; d < buffer->shape.size(); ++d)
      region.box.push_back(detail::span_of(buffer, list, d));
    out.push_back(std::move(region));
  }
  return out;
}

}  // namespace tilewright::dsl
