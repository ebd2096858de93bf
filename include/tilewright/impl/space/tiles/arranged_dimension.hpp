// Buffers laid out so that one of their dimensions is contiguous.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/impl/space/tiles/moving_dimension.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::space::detail {

/// The dimension goes last, behind its phases where it moves in steps.
inline ir::index_map phases_last(std::size_t rank, const moving_dimension& m) {
  return ir::make_index_map(rank, [&](const std::vector<ir::var>& v) {
    std::vector<ir::expr> out;
    for (std::size_t d = 0; d < rank; ++d)
      if (d != m.dim) out.push_back(v[d]);
    const ir::expr step = ir::integer(v[m.dim].type(), m.step);
    if (m.step > 1) out.push_back(ir::floormod(v[m.dim], step));
    out.push_back(m.step > 1 ? ir::floordiv(v[m.dim], step) : ir::expr(v[m.dim]));
    return out;
  });
}

/// Lays the operand out, and lets the loops of its producer follow.
inline void arrange(schedule& s, const std::string& producer, const moving_dimension& m) {
  const block_rv b = s.get_block(producer);
  const ir::buffer operand = s.get(b).block->writes[0].buffer;
  const std::size_t rank = operand->shape.size();
  const ir::index_map map = phases_last(rank, m);
  const ir::expr& extent = operand->shape[m.dim];
  if (!ir::is_int(extent) || extent->integer % m.step != 0) {
    // the nest runs over the new dimensions, and fills what no element takes
    const bool real = is_float(operand->type);
    s.transform_layout(b, written_buffer(0), map, real ? argument(0.0) : argument(0));
    return;
  }
  s.transform_layout(b, written_buffer(0), map);
  s.transform_block_layout(b, map);
}

}  // namespace tilewright::space::detail
