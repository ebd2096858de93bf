// What a guard takes off the box that a block touches.
#pragma once

#include <optional>

#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::dependence::cover {

/// Takes off the box what the guard does where it is about a part of an index, as the one of a tile
/// that is split further without dividing. Where s is not negative, no value is above its sum with s.
inline void cut_by_guard(footprint& box, const access& a, standing_loops standing) {
  if (a.iters().understood) return;
  const child_block& child = a.by;
  for (const ir::expr& conjunct : ir::conjuncts(child.realize->predicate)) {
    const std::optional<arith::linear> spare = footprints::not_negative(conjunct);
    if (!spare) continue;
    for (std::size_t d = 0; d < box.size(); ++d) {
      const ir::range& dim = a.region.box[d];
      if (!box[d].hi || !ir::is_int(dim.extent)) continue;
      arith::linear last = in_loops(dim.min, child);
      last.constant += ir::as_int(dim.extent) - 1;
      for (const auto& [term, factor] : spare->terms) {
        const std::int64_t met = last.coefficient(term);
        if (factor >= 0 || met <= 0 || met % factor != 0) continue;
        arith::linear most = last;
        accumulate(most, *spare, met / -factor);
        const std::optional<arith::linear> hi = relax(most, child, standing).hi;
        if (hi && footprints::never_above(*hi, *box[d].hi, child.loops)) box[d].hi = hi;
        break;
      }
      cut_by_sides(box[d]);
    }
  }
}

}  // namespace tilewright::dependence::cover
