// What a block certainly writes, all of it, declared in footprint.hpp.
#pragma once

#include <algorithm>

#include <tilewright/arith/interval.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/impl/dependence/binding/fused_binding.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/binding/taken_digits.hpp>
#include <tilewright/impl/dependence/cover/conditional_stores.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/radix.hpp>

namespace tilewright::dependence {
namespace footprints {

/// An iteration variable while the moving loops run: an interval without holes, or nothing.
inline bool is_contiguous(const linear& value, const child_block& child, standing_loops standing,
                          std::vector<int>& used, taken_digits& digits) {
  support::radix steps;
  for (const auto& [term, factor] : value.terms) {
    const int index = loop_index(child.loops, term);
    if (index < 0) {
      if (stands_still(term, child, standing)) continue;
      const std::optional<std::int64_t> count = digits.take(term);
      if (!count) return false;
      if (*count > 1) steps.add(std::abs(factor), *count);
      continue;
    }
    const auto at = static_cast<std::size_t>(index);
    if (!standing.moves(child, at)) continue;
    if (!ir::is_int(child.loops[at]->extent)) return false;
    const std::int64_t count = ir::as_int(child.loops[at]->extent);
    if (count == 1) continue;
    if (used[at]++) return false;
    steps.add(std::abs(factor), count);
  }
  return !steps.has_gaps();
}

/// Whether the values of all iteration variables form a box without holes.
inline bool is_full_box(const child_block& child, standing_loops standing) {
  const bound_iters& iters = bind_iters(child);
  if (!iters.understood || child.conditional) return false;
  std::vector<int> used(child.loops.size(), 0);
  taken_digits digits(child.loops);
  const std::vector<ir::iter_var>& vars = child.block().iters;
  bool simple = true;
  for (std::size_t i = 0; i < vars.size() && simple; ++i)
    simple = vars[i].kind == ir::iter_kind::reduce ||
             is_contiguous(iters.values[i], child, standing, used, digits);
  if (simple && digits.are_complete(used)) return true;
  if (standing.fixed > child.loops.size()) return false;
  const auto [moving, still] = parted(child, standing);
  const arith::loop_domains loops = domains(moving);
  const arith::analyzer known = knowing(still);
  const auto binds = [&](const ir::expr& guard) {
    return arith::is_affine_binding(child.realize->values, vars, loops, guard, known);
  };
  // a guard that leaves one step of a loop fills no box: the one that the loop spans has holes
  const ir::expr& guard = child.realize->predicate;
  return binds(guard) && (ir::is_true(guard) || binds(ir::boolean(true)));
}

/// What a dimension indexed by a mixed-radix sum of iteration variables covers, `v0 * 16 + v1`:
/// without holes when, from the smallest factor on, each is at most what the smaller ones reach.
/// Variables that a predicate cuts are left to others. Marks the variables in `used`.
inline std::optional<span> digits_written(const ir::range& dim, const child_block& child,
                                          standing_loops standing, std::vector<char>& used) {
  const bound_iters& iters = bind_iters(child);
  if (!ir::is_int(dim.extent)) return std::nullopt;
  linear sum = arith::to_linear(dim.min);
  std::sort(sum.terms.begin(), sum.terms.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::int64_t reach = ir::as_int(dim.extent);
  span out;
  out.lo = constant(sum.constant, sum.type);
  out.hi = constant(sum.constant + reach - 1, sum.type);
  out.within = {sum.constant, sum.constant + reach - 1};
  for (const auto& [term, factor] : sum.terms) {
    const int at = iter_index(child.block(), term);
    if (at < 0 && ir::is_var(term) && loop_index(child.loops, term) < 0) {  // of a block around
      out.within = {};
      accumulate(*out.lo, arith::to_linear(term), factor);
      accumulate(*out.hi, arith::to_linear(term), factor);
      continue;
    }
    if (at < 0 || factor < 1) return std::nullopt;
    const auto i = static_cast<std::size_t>(at);
    const ir::iter_var& iter = child.block().iters[i];
    if (iter.kind == ir::iter_kind::reduce || used[i]++) return std::nullopt;
    const linear_range value = relax(iters.values[i], child, standing);
    if (!value.lo || !value.hi) return std::nullopt;
    const bounds count = range_of_difference(*value.hi, *value.lo, child.loops);
    const bool cut = range_of(*value.lo, child.loops).lo < iters.clip[i].lo ||
                     range_of(*value.hi, child.loops).hi > iters.clip[i].hi;
    if (!count.is_point() || cut || (count.lo > 0 && factor > reach)) return std::nullopt;
    reach += factor * count.lo;
    accumulate(*out.lo, *value.lo, factor);
    accumulate(*out.hi, *value.hi, factor);
    out.within = arith::add(out.within, arith::scale(iters.clip[i], factor));
  }
  return out;
}

/// One dimension of a write as `iteration variable * factor + offset`, `extent` wide.
struct strip {
  int iter = -1;  // -1: a constant place
  std::int64_t factor = 1, offset = 0, extent = 1;
};

inline std::optional<strip> strip_of(const ir::range& dim, const ir::block_node& block) {
  strip out;
  if (!ir::is_int(dim.extent)) return std::nullopt;
  out.extent = ir::as_int(dim.extent);
  if (const int i = iter_index(block, dim.min); i >= 0) {
    out.iter = i;
    return out;
  }
  const linear sum = arith::to_linear(dim.min);
  out.offset = sum.constant;
  if (sum.terms.size() > 1) return std::nullopt;
  if (sum.terms.empty()) return out;
  out.iter = iter_index(block, sum.terms[0].first);
  out.factor = sum.terms[0].second;
  if (out.iter < 0 || out.factor < 1 || out.factor > out.extent) return std::nullopt;
  return out;
}

/// The largest value of a sum that takes all from 0 on; nothing when it does not.
inline std::optional<std::int64_t> last_value(const arith::iter_sum& sum) {
  if (!ir::is_int(sum.base, 0)) return std::nullopt;
  if (!sum.splits.empty() && sum.splits.back().scale != 1) return std::nullopt;
  std::int64_t out = 0;
  for (const arith::iter_split& s : sum.splits) {
    if (s.symbolic_extent) return std::nullopt;
    out += (s.extent - 1) * s.scale;
  }
  return out;
}

/// The box that indices cover which are themselves made by splitting, `[v // 16, v % 16]`, or that
/// move a tile in steps of its width, `[v // 4 * 8 : v // 4 * 8 + 8]`: what the moving loops add to
/// each is one map of iterations, without holes. The predicate must be one of the moving loops
/// alone. Marks the variables in `used`.
inline std::optional<footprint> split_written(const access& a, standing_loops standing,
                                              std::vector<char>& used) {
  const child_block& child = a.by;
  const bound_iters& iters = a.iters();
  const arith::analyzer known = knowing(child.loops);
  const ir::block_node& block = a.block();
  const ir::var_map bindings = ir::bindings(*child.realize);
  ir::var_set reduced;
  for (const ir::iter_var& v : block.iters)
    if (v.kind == ir::iter_kind::reduce) reduced.insert(v.var);
  const auto [moving, standing_still] = parted(child, standing);
  const ir::var_set moved = variables_of(moving), fixed = variables_of(standing_still);
  const ir::expr& predicate = child.realize->predicate;
  const std::vector<ir::var> limited = ir::free_vars(predicate);
  const auto moves = [&](const ir::var& v) { return moved.count(v) != 0; };
  // what standing loops cut is missing in some iterations
  if (ir::reads_memory(predicate) || !support::all(limited, moves) ||
      ir::is_int(known.simplify(predicate), 0))
    return std::nullopt;
  footprint out;
  std::vector<ir::expr> values;
  std::vector<std::int64_t> widths;
  for (const ir::range& dim : a.region.box) {
    if (!ir::is_int(dim.extent) || ir::uses_any(dim.min, reduced)) return std::nullopt;
    for (std::size_t i = 0; i < used.size(); ++i)
      used[i] |= ir::uses_var(dim.min, block.iters[i].var);
    const std::int64_t wider = ir::as_int(dim.extent) - 1;
    // the steps of threads stay the digits that their guard is about
    const int alone = iters.understood ? -1 : iter_index(block, dim.min);
    const linear index = alone >= 0
                             ? iters.values[static_cast<std::size_t>(alone)]
                             : arith::to_linear(known.simplify(ir::substitute(dim.min, bindings)));
    linear still = constant(index.constant, index.type), part = constant(0, index.type);
    for (const auto& term : index.terms)
      (ir::uses_any(term.first, moved) ? part : still).terms.push_back(term);
    if (!divide_terms(part, std::max<std::int64_t>(wider, 0) + 1)) return std::nullopt;
    values.push_back(arith::from_linear(part));
    if (ir::uses_any(values.back(), fixed)) return std::nullopt;
    widths.push_back(wider + 1);
    // a sum of standing loops is cut by nothing
    const bool fixed_place = still.is_constant();
    linear last = still;
    last.constant += wider;
    out.push_back({still, last, fixed_place ? bounds{still.constant, last.constant} : bounds{}});
  }
  const auto map = arith::detect_iter_map(values, domains(moving), predicate,
                                          arith::iter_map_level::surjective, arith::analyzer());
  if (!map) return std::nullopt;
  for (std::size_t d = 0; d < out.size(); ++d) {
    const std::optional<std::int64_t> last = last_value(map->indices[d]);
    if (!last) return std::nullopt;
    const std::int64_t reach = *last * widths[d];
    out[d].hi->constant += reach;
    if (out[d].lo->is_constant()) out[d].within.hi += reach;
  }
  return out;
}

/// Whether all values of a variable may be outside of its clip in some iteration of the loops.
inline bool is_beyond(const linear_range& value, const bounds& clip, const loop_nest& loops) {
  return (value.lo && range_of(*value.lo, loops).hi > clip.hi) ||
         (value.hi && range_of(*value.hi, loops).lo < clip.lo);
}

/// The box that indices cover which are single variables or sums of several; split ones, if some
/// are neither. Marks the variables in `used`.
inline std::optional<footprint> strips_written(const access& a, standing_loops standing,
                                               std::vector<char>& used) {
  const child_block& child = a.by;
  const bound_iters& iters = a.iters();
  const ir::block_node& block = a.block();
  // quotients and remainders by a symbolic extent: all of the domains, as whole loops are
  const bool whole = !is_full_box(child, standing);
  if (whole &&
      !(ir::is_true(child.realize->predicate) && bindings::are_whole_loops(child, standing.fixed)))
    return std::nullopt;
  footprint out(a.region.box.size());
  for (std::size_t d = 0; d < out.size(); ++d) {
    const std::optional<strip> place = strip_of(a.region.box[d], block);
    span& s = out[d];
    if (!place) {
      std::optional<span> mixed = digits_written(a.region.box[d], child, standing, used);
      if (!mixed) return split_written(a, standing, used);
      s = std::move(*mixed);
      continue;
    }
    if (place->iter < 0) {
      s.within = {place->offset, place->offset + place->extent - 1};
      continue;
    }
    const auto i = static_cast<std::size_t>(place->iter);
    if (block.iters[i].kind == ir::iter_kind::reduce || used[i]++) return std::nullopt;
    linear_range value = relax(iters.values[i], child, standing);
    const ir::range& dom = block.iters[i].dom;
    if (whole)
      value = {arith::to_linear(dom.min),
               difference(arith::to_linear(dom.min + dom.extent), constant(1, dom.min.type()))};
    if (!value.lo || !value.hi) return std::nullopt;
    // the steps that a guard takes off the end reach back into the box when they are wide
    if (place->extent > place->factor && is_beyond(value, iters.clip[i], child.loops))
      return std::nullopt;
    const auto place_of = [&](const arith::linear& v, std::int64_t offset) {
      arith::linear at = constant(offset, v.type);
      accumulate(at, v, place->factor);
      return at;
    };
    s.lo = place_of(*value.lo, place->offset);
    s.hi = place_of(*value.hi, place->offset + place->extent - 1);
    s.within = arith::add(arith::scale(iters.clip[i], place->factor),
                          {place->offset, place->offset + place->extent - 1});
  }
  return out;
}

/// Whether the domain ends where the buffer does: behind it no element is missed.
inline bool ends_buffer(const ir::iter_var& v, const access& a) {
  for (std::size_t d = 0; d < a.region.box.size(); ++d) {
    const std::optional<strip> place = strip_of(a.region.box[d], a.block());
    if (place && place->iter >= 0 && place->factor == 1 && place->offset == 0 &&
        a.block().iters[static_cast<std::size_t>(place->iter)].var.same(v.var))
      return ir::is_int(v.dom.min, 0) && arith::same_value(v.dom.extent, a.region.buffer->shape[d]);
  }
  return false;
}

/// Whether a value is told from outside of the loops around the block, in part.
inline bool is_told_from_outside(const linear& value, const child_block& child) {
  const auto outside = [&](const ir::var& v) { return loop_index(child.loops, v) < 0; };
  return support::any(value.terms, [&](const auto& term) {
    if (ir::is_var(term.first)) return outside(term.first);
    const std::vector<ir::var> vars = ir::free_vars(term.first);
    return support::any(vars, outside);
  });
}

/// How far behind the end of the domain a value lies, -1 where it is the last one in it.
inline std::optional<std::int64_t> behind(const ir::range& dom,
                                          const std::optional<linear>& value) {
  return value ? constant_sum(*value, arith::to_linear(dom.min + dom.extent), -1) : std::nullopt;
}

/// Whether the guard and the domains take nothing off the box, in whatever way the indices tell it.
/// `told` marks the variables that they tell: the guard may cut none of their values at an end that
/// is no number, which the box does not know. Of the others some instance runs in every iteration,
/// the first one of a sum.
inline bool is_all_written(const access& a, standing_loops standing,
                           const std::vector<char>& told) {
  const child_block& child = a.by;
  const bound_iters& iters = a.iters();
  const bool guarded = !ir::is_true(child.realize->predicate);
  for (std::size_t i = 0; i < told.size(); ++i) {
    const ir::iter_var& v = child.block().iters[i];
    const bool numbers = ir::is_int(v.dom.min) && ir::is_int(v.dom.extent);
    if (told[i] && (numbers || !guarded)) continue;
    const linear_range value = relax(iters.values[i], child, standing);
    if (told[i]) {
      if (behind(v.dom, value.hi).value_or(0) >= 0 && !ends_buffer(v, a)) return false;
      continue;
    }
    // a part of a sum that is told from outside need not be the one that begins it
    if (v.kind == ir::iter_kind::reduce &&
        is_told_from_outside(
            difference(value.lo ? *value.lo : iters.values[i], arith::to_linear(v.dom.min)), child))
      return false;
    if (!numbers) {
      // all of a domain as long as some shape is: none is empty
      if (behind(v.dom, value.hi) == -1) continue;
      if (guarded && (follows(v.dom.min, child) || follows(v.dom.extent, child))) return false;
    }
    if (is_beyond(value, iters.clip[i], child.loops)) return false;
  }
  return true;
}

/// A dimension of quotients of a variable with a symbolic domain and one of its remainders, as in
/// `[v // 16, v % 16]`.
struct symbolic_split {
  std::size_t quotient = 0, rest = 0;  // dimensions
  std::int64_t by = 1;

  static std::optional<symbolic_split> find(const ir::block_node& block,
                                            const ir::buffer_region& region) {
    const auto digit = [&](std::size_t d, ir::op o) {
      const ir::expr& e = region.box[d].min;
      return e->op == o && ir::is_int(region.box[d].extent, 1) && ir::is_int(e->args[1]) &&
             ir::as_int(e->args[1]) > 0;
    };
    for (std::size_t q = 0; q < region.box.size(); ++q) {
      if (!digit(q, ir::op::floordiv)) continue;
      const ir::expr& quotient = region.box[q].min;
      const int i = iter_index(block, quotient->args[0]);
      if (i < 0 || ir::is_int(block.iters[static_cast<std::size_t>(i)].dom.extent)) continue;
      for (std::size_t r = 0; r < region.box.size(); ++r)
        if (digit(r, ir::op::floormod) && region.box[r].min->args[0].same(quotient->args[0]) &&
            ir::as_int(region.box[r].min->args[1]) == ir::as_int(quotient->args[1]))
          return symbolic_split{q, r, ir::as_int(quotient->args[1])};
    }
    return std::nullopt;
  }

  /// The region where the quotients are the variable itself, and the remainders stand for nothing.
  ir::buffer_region joined(const ir::buffer_region& region) const {
    const dtype type = region.box[quotient].min.type();
    ir::buffer_region out = region;
    out.box[quotient].min = region.box[quotient].min->args[0];
    out.box[rest] = {ir::integer(type, 0), ir::integer(type, by)};
    ir::buffer_node longer = *region.buffer;
    longer.shape[quotient] = longer.shape[quotient] * by;
    out.buffer = ir::buffer(new ir::buffer_node(std::move(longer)));
    return out;
  }

  /// From what the variable covers what its quotients do: only whole multiples are a box.
  bool divide(footprint& box) const {
    span& s = box[quotient];
    const auto divided = [&](std::optional<linear>& side, std::int64_t after) {
      if (!side) return false;
      side->constant += after;
      if (!divide_terms(*side, by) || side->constant % by != 0) return false;
      side->constant = side->constant / by - after;
      return true;
    };
    const bool whole_cut = s.within.lo % by == 0 && (s.within.hi == bounds::positive_infinity ||
                                                     (s.within.hi + 1) % by == 0);
    if (!whole_cut || !divided(s.lo, 0) || !divided(s.hi, 1)) return false;
    s.within = arith::floor_divide(s.within, by);
    return true;
  }
};

inline std::optional<footprint> all_written(const access& a, standing_loops standing) {
  std::vector<char> told(a.block().iters.size(), 0);
  std::optional<footprint> out =
      a.iters().understood ? strips_written(a, standing, told) : split_written(a, standing, told);
  if (out && !is_all_written(a, standing, told)) out.reset();
  return out;
}

}  // namespace footprints

TILEWRIGHT_INLINE std::optional<footprint> written(const access& a, standing_loops standing) {
  using namespace footprints;
  if (skips_stores(a.block(), a.region.buffer) || a.by.conditional ||
      moves_unevenly(a.by, standing) || !writes_declared(a.block(), a.region))
    return std::nullopt;
  const auto split =
      a.iters().understood ? symbolic_split::find(a.block(), a.region) : std::nullopt;
  std::optional<footprint> out =
      split ? all_written({a.by, split->joined(a.region)}, standing) : all_written(a, standing);
  if (!out || (split && !split->divide(*out))) return std::nullopt;
  for (span& s : *out) cut_by_sides(s);
  return out;
}

}  // namespace tilewright::dependence
