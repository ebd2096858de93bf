// Blocks that meet in the same iterations of a loop alone.
#pragma once

#include <algorithm>
#include <optional>

#include <tilewright/impl/schedule/loop_sums.hpp>
#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/footprint.hpp>

namespace tilewright::primitive::detail {

/// Whether in each iteration of the loop the two blocks touch the same elements, and in different
/// iterations different ones.
inline bool share_within_iterations(const child_block& writer, const ir::buffer_region& written,
                                    const child_block& reader, const ir::buffer_region& read,
                                    std::size_t loop) {
  const standing_loops standing{loop + 1, {}};
  const footprint a = touched(writer, bind_iters(writer), written, standing),
                  b = touched(reader, bind_iters(reader), read, standing);
  const auto same = [](const std::optional<arith::linear>& x,
                       const std::optional<arith::linear>& y) {
    return x && y && footprints::constant_sum(*x, *y, -1) == 0;
  };
  // a box that stands still is the same in all iterations, whatever the instances write of it
  const auto moves = [&](const span& s) {
    return s.lo && std::any_of(s.lo->terms.begin(), s.lo->terms.end(), [&](const auto& t) {
             return ir::uses_var(t.first, writer.loops[loop]->var);
           });
  };
  return std::equal(
             a.begin(), a.end(), b.begin(), b.end(),
             [&](const span& x, const span& y) { return same(x.lo, y.lo) && same(x.hi, y.hi); }) &&
         std::any_of(a.begin(), a.end(), moves) && iterations_apart(writer, loop);
}

}  // namespace tilewright::primitive::detail
