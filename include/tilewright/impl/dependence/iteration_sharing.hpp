// Blocks that meet in the same iterations of a loop alone.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Whether a loop steps over all that two regions hold of a dimension in one of its iterations.
inline bool steps_over(const span& x, const span& y, const ir::var& loop) {
  using footprints::constant_sum;
  if (!x.lo || !x.hi || !y.lo || !y.hi) return false;
  std::int64_t step = 0;
  for (const auto& [term, factor] : x.lo->terms) {
    if (!ir::uses_var(term, loop)) continue;
    if (!term.same(loop)) return false;  // quotients and remainders may step back
    step = std::abs(factor);
  }
  const auto end = constant_sum(*x.hi, *x.lo, -1), from = constant_sum(*y.lo, *x.lo, -1),
             to = constant_sum(*y.hi, *x.lo, -1);
  return end && from && to && std::max(*end, *to) - std::min<std::int64_t>(0, *from) < step;
}

/// Whether what the two blocks touch in different iterations of the loop has nothing in common: it
/// steps over what both touch in one, or they touch the same there, and the first one others in others.
inline bool share_within_iterations(const child_block& writer, const ir::buffer_region& written,
                                    const child_block& reader, const ir::buffer_region& read,
                                    std::size_t loop) {
  const standing_loops standing{loop + 1, {}};
  const ir::var& v = writer.loops[loop]->var;
  const footprint a = touched({writer, written}, standing), b = touched({reader, read}, standing);
  const auto same = [](const std::optional<arith::linear>& x,
                       const std::optional<arith::linear>& y) {
    return x && y && footprints::constant_sum(*x, *y, -1) == 0;
  };
  // a box that stands still is the same in all iterations, whatever the instances write of it
  const auto moves = [&](const span& s) {
    return s.lo &&
           support::any(s.lo->terms, [&](const auto& t) { return ir::uses_var(t.first, v); });
  };
  for (std::size_t d = 0; d < a.size(); ++d)
    if (steps_over(a[d], b[d], v)) return true;
  return std::equal(
             a.begin(), a.end(), b.begin(), b.end(),
             [&](const span& x, const span& y) { return same(x.lo, y.lo) && same(x.hi, y.hi); }) &&
         support::any(a, moves) && iterations_apart(writer, loop);
}

}  // namespace tilewright::dependence
