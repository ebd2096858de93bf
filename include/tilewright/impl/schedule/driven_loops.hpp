// Which loops around a block its iteration variables follow, found in one walk over its bindings.
#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/footprint.hpp>

namespace tilewright::primitive::detail {

/// The loops that occur in what spatial variables are bound to, and in what the others are.
struct driven_loops {
  std::vector<char> spatial, other;  // [loops]

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
  static void mark(const ir::expr& e, loop_places& places, std::vector<char>& seen) {
    if (const int l = places.of(e); l >= 0) seen[static_cast<std::size_t>(l)] = 1;
    for (const ir::expr& arg : e->args) mark(arg, places, seen);
  }
};

}  // namespace tilewright::primitive::detail
