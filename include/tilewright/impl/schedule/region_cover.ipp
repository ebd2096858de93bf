// Region cover, declared in analysis.hpp.
#pragma once

#include <algorithm>
#include <string_view>

#include <tilewright/schedule/analysis.hpp>
#include <tilewright/schedule/footprint.hpp>

namespace tilewright::primitive {
namespace detail::cover {

using arith::bounds;
using const_box = std::vector<bounds>;

/// `box` without `hole`, as boxes.
inline void subtract(const const_box& box, const const_box& hole, std::vector<const_box>& out) {
  if (disjoint(box, hole)) {
    out.push_back(box);
    return;
  }
  const_box rest = box;
  for (std::size_t d = 0; d < rest.size(); ++d) {
    if (rest[d].lo < hole[d].lo) {
      out.push_back(rest);
      out.back()[d].hi = hole[d].lo - 1;
      rest[d].lo = hole[d].lo;
    }
    if (rest[d].hi > hole[d].hi) {
      out.push_back(rest);
      out.back()[d].lo = hole[d].hi + 1;
      rest[d].hi = hole[d].hi;
    }
  }
}

inline const_box within(const footprint& f) {
  const_box out;
  out.reserve(f.size());
  for (const span& s : f) out.push_back(s.within);
  return out;
}

/// Whether the sums of `inner` lie inside those of `outer` in every iteration of `loops`; the
/// constant cuts of `outer` are not looked at. No access is beyond the shape of its buffer, also
/// where that is symbolic.
inline bool sums_inside(const footprint& outer, const footprint& inner,
                        const std::vector<ir::expr>& shape,
                        const std::vector<const ir::loop_node*>& loops) {
  const auto not_above = [&](const std::optional<arith::linear>& low, const arith::linear& high) {
    return low && range_of(difference(high, *low), loops).lo >= 0;
  };
  for (std::size_t d = 0; d < outer.size(); ++d) {
    const span& o = outer[d];
    const span& i = inner[d];
    if (o.lo && !o.lo->is_constant()) {
      const bool by_cut = range_of(*o.lo, loops).hi <= i.within.lo;
      if (!by_cut && !(i.lo && not_above(o.lo, *i.lo))) return false;
    }
    if (o.hi && !o.hi->is_constant()) {
      const bool by_cut = range_of(*o.hi, loops).lo >= i.within.hi;
      const bool by_shape = !ir::is_int(shape[d]) &&
                            range_of(difference(*o.hi, arith::to_linear(shape[d])), loops).lo >= -1;
      if (!by_cut && !by_shape && !(i.hi && not_above(i.hi, *o.hi))) return false;
    }
  }
  return true;
}

/// Whether the parts of `region` that earlier blocks of the scope write are written completely.
inline bool is_covered(const block_scope& scope, std::size_t reader,
                       const bound_iters& reader_iters, const ir::buffer_region& region,
                       sums needed) {
  const child_block& r = scope[reader];
  std::vector<const_box> rest;
  std::vector<const_box> uncertain;  // written by blocks of which nothing is certain
  bool produced = false;
  for (std::size_t w = 0; w < reader; ++w) {
    const child_block& writer = scope[w];
    for (const ir::buffer_region& out : writer.block().writes) {
      if (out.buffer != region.buffer || !may_overlap(writer.block(), out, r.block(), region))
        continue;
      // threads share global memory, but nothing makes them wait for each other there
      const std::string_view scope_of_buffer = region.buffer->scope;
      const std::string_view reach =
          scope_of_buffer == "global" ? std::string_view{} : scope_of_buffer;
      const standing_loops standing{scope.common_loops(w, reader), reach};
      const footprint needs = touched(r, reader_iters, region, standing);
      if (!produced) {
        rest.push_back(within(needs));
        for (const bounds& b : rest.front())
          if (b.lo > b.hi) return true;  // nothing is read
      }
      produced = true;
      const std::optional<footprint> gives =
          needed == sums::unfinished || reduction_done(writer, standing)
              ? written(writer, bind_iters(writer), out, standing)
              : std::nullopt;
      if (!gives || !sums_inside(*gives, needs, region.buffer->shape, r.loops)) {
        uncertain.push_back(constant_box(writer.block(), out));
        continue;
      }
      std::vector<const_box> left;
      for (const const_box& box : rest) subtract(box, within(*gives), left);
      rest = std::move(left);
    }
  }
  if (!produced || rest.empty()) return true;
  if (scope.allocates(region.buffer)) return false;
  // What nobody in the scope writes comes from outside.
  for (const const_box& box : rest)
    for (const const_box& other : uncertain)
      if (!disjoint(box, other)) return false;
  return true;
}

}  // namespace detail::cover

TILEWRIGHT_INLINE bool region_covered(const block_scope& scope, std::size_t child, sums needed) {
  const std::vector<ir::buffer_region>& reads = scope[child].block().reads;
  if (reads.empty()) return true;
  const bound_iters& iters = bind_iters(scope[child]);
  return std::all_of(reads.begin(), reads.end(), [&](const ir::buffer_region& r) {
    return detail::cover::is_covered(scope, child, iters, r, needed);
  });
}

}  // namespace tilewright::primitive
