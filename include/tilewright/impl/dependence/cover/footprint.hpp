// Footprints: the part of a buffer that a block touches while some of the loops around it stand
// still.
//
// Region cover, compute_at and the caches all ask this question. A footprint is a box; each side is
// a sum over the standing loops, cut by constants that hold besides (the domain of an iteration
// variable, the shape of the buffer, the predicate). So a tile at the edge keeps its constant
// extent and its cut apart. Affine bindings with constant extents, the common case, are handled by
// adding coefficients; the rest is handed to the analyzer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/support/kept.hpp>

namespace tilewright::dependence {

/// The bindings of a block as sums over the loops around it.
struct bound_iters : support::answer {
  std::vector<arith::linear> values;  // [iteration variables]
  std::vector<arith::bounds> clip;    // [iteration variables] domain and predicate, where constant
  /// Every conjunct of the predicate only cuts one iteration variable, and is part of `clip` or
  /// says no more than the domain, or another conjunct, does.
  bool understood = true;
};
/// Computed once for a realize whose guard is true, else once for a child of a walk, since the loops around it say which
/// conjuncts of a guard matter.
const bound_iters& bind_iters(const child_block& child);

/// A part of a buffer that a block touches, in terms of its iteration variables.
struct access {
  const child_block& by;
  const ir::buffer_region& region;

  const ir::block_node& block() const { return by.block(); }
  const bound_iters& iters() const { return bind_iters(by); }
};

/// Values of one dimension: [lo, hi] inclusive where known, and within constant bounds.
struct span {
  std::optional<arith::linear> lo, hi;  // in terms of the standing loops
  arith::bounds within;
};
using footprint = std::vector<span>;  // [rank]

/// A side that is a constant bounds the dimension as any other constant does.
inline void cut_by_sides(span& s) {
  if (s.lo && s.lo->is_constant()) s.within.lo = std::max(s.within.lo, s.lo->constant);
  if (s.hi && s.hi->is_constant()) s.within.hi = std::min(s.within.hi, s.hi->constant);
}

/// Which loops around a block stand still: the first `fixed` of them, except those that threads
/// share (`shared_across`) when a storage scope is given.
struct standing_loops {
  std::size_t fixed = 0;
  std::string_view storage_scope = {};

  bool moves(const child_block& child, std::size_t loop) const {
    return loop >= fixed ||
           (!storage_scope.empty() && ir::shared_across(storage_scope, *child.loops[loop]));
  }
};

/// The loops around a block by that.
struct parted_loops {
  loop_nest moving, still;
};
inline parted_loops parted(const child_block& child, standing_loops standing) {
  parted_loops out;
  for (std::size_t l = 0; l < child.loops.size(); ++l)
    (standing.moves(child, l) ? out.moving : out.still).push_back(child.loops[l]);
  return out;
}

/// Upper bound of what is touched of the buffer while the other loops run.
footprint touched(const access& a, standing_loops standing);

/// What is certainly written, all of it, while the other loops run; nothing when that is not a box
/// that can be proved.
std::optional<footprint> written(const access& a, standing_loops standing);

/// True when the reduce variables of the child are driven by none of the standing loops: the
/// reduction is done when the other loops have run.
bool reduction_done(const child_block& child, standing_loops standing);

/// The sum with the variables of the moving loops at the values that make it smallest and largest.
/// A missing side is unbounded.
struct linear_range {
  std::optional<arith::linear> lo, hi;
};
linear_range relax(const arith::linear& sum, const child_block& child, standing_loops standing);

/// The value of an expression over the block's iteration variables as a sum over the loops.
arith::linear in_loops(const ir::expr& e, const child_block& child);

/// @name Constant boxes
/// @{
inline arith::bounds meet(const arith::bounds& a, const arith::bounds& b) {
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}
/// True when two sides, or two boxes of one rank, have no point in common.
inline bool disjoint(const arith::bounds& a, const arith::bounds& b) {
  return a.hi < b.lo || b.hi < a.lo;
}
inline bool disjoint(const std::vector<arith::bounds>& a, const std::vector<arith::bounds>& b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (disjoint(a[d], b[d])) return true;
  return false;
}
/// Constant bounds of a range; unbounded where it is symbolic.
inline arith::bounds constant_range(const ir::expr& min, const ir::expr& extent) {
  arith::bounds out;
  if (!ir::is_int(min)) return out;
  out.lo = ir::as_int(min);
  if (ir::is_int(extent)) out.hi = out.lo + ir::as_int(extent) - 1;
  return out;
}
inline arith::bounds constant_range(const ir::range& r) { return constant_range(r.min, r.extent); }
/// The indices that the buffer of a region has in a dimension.
inline arith::bounds bounds_of_shape(const ir::buffer_region& r, std::size_t d) {
  const ir::expr& shape = r.buffer->shape[d];
  return {0, ir::is_int(shape) ? ir::as_int(shape) - 1 : arith::bounds::positive_infinity};
}
/// `loop_index` of several expressions, one after the other: sums mostly name loops in their order.
class loop_places {
 public:
  explicit loop_places(const loop_nest& loops) : loops_(loops) {}
  int of(const ir::expr& e) {
    if (!ir::is_var(e)) return -1;
    for (std::size_t tried = 0; tried < loops_.size(); ++tried) {
      if (next_ == loops_.size()) next_ = 0;
      if (loops_[next_++]->var.same(e)) return static_cast<int>(next_ - 1);
    }
    return -1;
  }

 private:
  const loop_nest& loops_;
  std::size_t next_ = 0;
};
/// @}

/// Position of the iteration variable `v` in the block; -1 when it is none of its.
inline int iter_index(const ir::block_node& block, const ir::expr& v) {
  for (std::size_t i = 0; i < block.iters.size(); ++i)
    if (block.iters[i].var.same(v)) return static_cast<int>(i);
  return -1;
}

/// @name Sums
/// @{
void accumulate(arith::linear& to, const arith::linear& from, std::int64_t factor = 1);
arith::linear difference(const arith::linear& a, const arith::linear& b);
/// Constant bounds of a sum over loops.
arith::bounds range_of(const arith::linear& sum, const loop_nest& loops);
/// @}

}  // namespace tilewright::dependence
