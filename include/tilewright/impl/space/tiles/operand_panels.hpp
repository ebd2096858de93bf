// Panels of a register tile: copies of operands whose rows are vectors of the tile's columns.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::space::detail {

/// Copies operands of one block, by the positions of the regions that it reads.
struct operand_panels {
  schedule& s;
  block_rv block;
  std::size_t columns;  // the iteration variable along which vectors lie
  int vector_lanes;

  /// A copy below `at`, as the operand lies in memory.
  void copy(int region, loop_rv at) const {
    const block_rv copy = s.cache_read(block, region, "global");
    s.compute_at(copy, at, true);
    const auto [outer, lanes] = s.split(s.get_loops(copy).back(), {infer, vector_lanes});
    s.vectorize(lanes);
  }

  /// A panel whose rows are vectors of the columns, from an operand that is contiguous along
  /// another dimension: lanes go across it, and a few steps along it are written out, which makes
  /// loads of rows and transpositions in registers.
  /// @param at below this loop; nothing: before all of them
  void transpose(int region, std::optional<loop_rv> at) const {
    const ir::block_node& b = *s.get(block).block;
    const ir::buffer_region& read = b.reads[static_cast<std::size_t>(region)];
    const std::size_t rank = read.box.size();
    std::size_t across = 0, along = rank - 1;
    for (std::size_t d = 0; d < rank; ++d) {
      if (ir::uses_var(read.box[d].min, b.iters[columns].var)) across = d;
      if (!read.buffer->strides.empty() && ir::is_int(read.buffer->strides[d], 1)) along = d;
    }
    const block_rv copy = s.cache_read(block, region, "global");
    if (at) s.compute_at(copy, *at, true);
    std::vector<loop_rv> loops = s.get_loops(copy);
    loops.erase(loops.begin(), loops.end() - static_cast<std::ptrdiff_t>(rank));
    const auto [outer, lanes] = s.split(loops[across], {infer, vector_lanes});
    loops[across] = outer;
    if (across == along) {
      loops.push_back(lanes);
      s.reorder(loops);
    } else {
      const auto [steps, step] = s.split(loops[along], {infer, 4});
      loops[along] = steps;
      loops.push_back(step);
      loops.push_back(lanes);
      s.reorder(loops);
      s.unroll(step);
    }
    s.vectorize(lanes);
  }
};

}  // namespace tilewright::space::detail
