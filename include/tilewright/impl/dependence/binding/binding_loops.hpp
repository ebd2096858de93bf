// Which loops around a block its iteration variables follow, found in one walk over its bindings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// The loops that occur in what spatial variables are bound to, and in what the others are.
struct driven_loops {
  loop_marks spatial, other;  // [loops]

  explicit driven_loops(const child_block& child)
      : spatial(child.loops.size(), 0), other(child.loops.size(), 0) {
    const std::vector<ir::iter_var>& vars = child.block().iters;
    loop_places places(child.loops);
    for (std::size_t i = 0; i < vars.size(); ++i)
      mark(child.realize->values[i], places,
           vars[i].kind == ir::iter_kind::spatial ? spatial : other);
  }

  /// The loop drives some variable.
  bool any(std::size_t loop) const { return spatial[loop] || other[loop]; }

 private:
  static void mark(const ir::expr& e, loop_places& places, loop_marks& seen) {
    if (const int l = places.of(e); l >= 0) seen[static_cast<std::size_t>(l)] = 1;
    for (const ir::expr& arg : e->args) mark(arg, places, seen);
  }
};

/// Whether the block certainly does the same in all iterations of the loop at that position: neither
/// the loop nor memory decides which instances run, and none of them uses the loop otherwise.
inline bool repeats_itself(const child_block& c, std::size_t loop) {
  const ir::var& v = c.loops[loop]->var;
  const auto decides = [&](const ir::expr& e) { return ir::uses_var(e, v) || ir::reads_memory(e); };
  const auto uses = [&](const ir::stmt& s) {
    return ir::any_expr(s, [&](const ir::expr& e) { return e.same(v); });
  };
  const std::vector<ir::expr>& values = c.realize->values;
  return !c.conditional && !decides(c.realize->predicate) && support::none(values, decides) &&
         std::none_of(
             c.loops.begin() + static_cast<std::ptrdiff_t>(loop) + 1, c.loops.end(),
             [&](const ir::loop_node* l) { return decides(l->min) || decides(l->extent); }) &&
         !uses(c.block().init) && !uses(c.block().body);
}

}  // namespace tilewright::dependence
