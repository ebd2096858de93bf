#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <tilewright/arith/interval.hpp>
#include <tilewright/impl/dependence/binding/digit.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {
namespace footprints {

/// `s` is end - x and value i is x // m with end + 1 a multiple of m: the predicate of a split
/// above a fused loop.
inline bool clip_quotient(const linear& s, std::size_t i, bound_iters& out) {
  const linear& value = out.values[i];
  if (value.terms.size() != 1 || value.terms[0].second != 1 || value.constant != 0) return false;
  const ir::expr& quotient = value.terms[0].first;
  if (quotient->op != ir::op::floordiv || !ir::is_int(quotient->args[1])) return false;
  const std::int64_t m = ir::as_int(quotient->args[1]);
  const auto end = constant_sum(s, arith::to_linear(quotient->args[0]), 1);
  if (m <= 0 || !end || (*end + 1) % m != 0) return false;
  out.clip[i].hi = std::min(out.clip[i].hi, (*end + 1) / m - 1);
  return true;
}

/// `s >= 0` is about steps of value i that are wider than the rest of it: value i is m * s + rest,
/// and the rest runs through less than |m|. So the guard of a split of tiles, `tile < 8`, lets
/// tile * 7 + i get to 55, also where nothing guards the elements because tiles of seven divide.
inline bool clip_steps(const linear& s, std::size_t i,
                       const std::vector<const ir::loop_node*>& loops, bound_iters& out) {
  if (s.terms.empty()) return false;
  const auto& [term, factor] = s.terms.front();
  const std::int64_t met = out.values[i].coefficient(term);
  if (met == 0 || met % factor != 0) return false;
  const std::int64_t m = met / factor;
  linear rest = out.values[i];
  accumulate(rest, s, -m);
  const bounds run = range_of(rest, loops);
  if (!run.bounded() || run.hi - run.lo >= std::abs(m)) return false;
  if (m < 0)
    out.clip[i].hi = std::min(out.clip[i].hi, run.hi);
  else
    out.clip[i].lo = std::max(out.clip[i].lo, run.lo);
  return true;
}

/// `s` is end - 1 - value with the symbolic end of the domain.
inline bool ends_domain(const linear& s, const linear& value, const ir::range& dom) {
  if (ir::is_int(dom.extent) && ir::is_int(dom.min)) return false;
  linear rest = s;
  accumulate(rest, value, 1);
  const auto gap = constant_sum(rest, arith::to_linear(dom.min + dom.extent), -1);
  return gap && *gap >= -1;
}

/// Uses what the conjunct `s >= 0` says about one iteration variable; false when it is about none.
inline bool clip_nonnegative(const linear& s, const child_block& child, bound_iters& out) {
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    if (const auto most = constant_sum(s, out.values[i], 1)) {  // value <= most
      out.clip[i].hi = std::min(out.clip[i].hi, *most);
      return true;
    }
    if (const auto rest = constant_sum(s, out.values[i], -1)) {  // value >= -rest
      out.clip[i].lo = std::max(out.clip[i].lo, -*rest);
      return true;
    }
    if (clip_quotient(s, i, out) || clip_steps(s, i, child.loops, out) ||
        ends_domain(s, out.values[i], child.block().iters[i].dom))
      return true;
  }
  return range_of(s, child.loops).lo >= 0;
}

/// Whether `held >= 0` makes `s >= 0` true: of whole numbers it does when `m * s` never lies `m` or
/// more below `held`. So the guard of a split, `tile * 6 + i < 512`, implies that of a split of its
/// tiles, `tile < 86`.
inline bool implies(const linear& held, const linear& s, const loop_nest& loops) {
  if (s.terms.empty()) return s.constant >= 0;
  const auto& [term, factor] = s.terms.front();
  const std::int64_t shared = held.coefficient(term);
  if (shared == 0 || shared % factor != 0 || shared / factor < 1) return false;
  const std::int64_t m = shared / factor;
  linear spare = constant(0, s.type);
  accumulate(spare, s, m);
  accumulate(spare, held, -1);
  return range_of(spare, loops).lo > -m;
}

/// Cuts the variables by the conjuncts of the predicate; false where one cuts something else, and
/// is not implied by one that cuts a variable.
inline bool clip_by(const ir::expr& predicate, const child_block& child, bound_iters& out) {
  std::vector<linear> held, others;
  bool linear_ones = true;
  for (const ir::expr& conjunct : ir::conjuncts(predicate)) {
    std::optional<linear> sum = not_negative(conjunct);
    linear_ones = linear_ones && sum;
    if (sum) (clip_nonnegative(*sum, child, out) ? held : others).push_back(std::move(*sum));
  }
  return linear_ones && support::all(others, [&](const linear& s) {
           return support::any(held, [&](const linear& h) { return implies(h, s, child.loops); });
         });
}

}  // namespace footprints

TILEWRIGHT_INLINE void accumulate(arith::linear& to, const arith::linear& from,
                                  std::int64_t factor) {
  to.constant += from.constant * factor;
  if (bits(from.type) > bits(to.type)) to.type = from.type;
  for (const auto& [term, coefficient] : from.terms) {
    std::size_t i = 0;
    while (i < to.terms.size() && !to.terms[i].first.same(term) &&
           (ir::is_var(term) || !arith::same_value(to.terms[i].first, term)))
      ++i;
    if (i == to.terms.size()) {
      to.terms.emplace_back(term, coefficient * factor);
    } else {
      to.terms[i].second += coefficient * factor;
      if (to.terms[i].second == 0)
        to.terms.erase(to.terms.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

TILEWRIGHT_INLINE arith::linear difference(const arith::linear& a, const arith::linear& b) {
  arith::linear out;
  out.terms.reserve(a.terms.size() + b.terms.size());
  out = a;
  accumulate(out, b, -1);
  return out;
}

TILEWRIGHT_INLINE arith::bounds range_of(const arith::linear& sum, const loop_nest& loops) {
  arith::bounds out{sum.constant, sum.constant};
  footprints::term_ranges ranges(loops);
  for (const auto& [term, factor] : sum.terms)
    out = arith::add(out, arith::scale(ranges.of(term), factor));
  return out;
}

TILEWRIGHT_INLINE const bound_iters& bind_iters(const child_block& child) {
  if (child.bound) return *child.bound;
  const ir::block_realize_node& realize = *child.realize;
  if (const support::answer* kept = realize.bound.get())
    return static_cast<const bound_iters&>(*kept);
  auto out = std::make_unique<bound_iters>();
  const std::vector<ir::iter_var>& vars = child.block().iters;
  out->values.reserve(vars.size());
  out->clip.reserve(vars.size());
  for (std::size_t i = 0; i < vars.size(); ++i) {
    out->values.push_back(arith::to_linear(realize.values[i]));
    out->clip.push_back(constant_range(vars[i].dom));
  }
  if (ir::is_true(realize.predicate))
    return static_cast<const bound_iters&>(realize.bound.keep(out.release()));
  out->understood = footprints::clip_by(realize.predicate, child, *out);
  child.bound = std::move(out);
  return *child.bound;
}

namespace footprints {

/// A value over the loops, of the parts that the bindings give; `compound` where these stand inside
/// of a term, which may have become simpler.
struct unfolded {
  linear sum;
  bool compound = false;
};

inline unfolded unfold(const ir::expr& e, const child_block& child) {
  const bound_iters& iters = bind_iters(child);
  if (const int alone = iter_index(child.block(), e); alone >= 0)
    return {iters.values[static_cast<std::size_t>(alone)]};
  const linear sum = arith::to_linear(e);
  unfolded out{constant(sum.constant, sum.type)};
  for (const auto& [term, factor] : sum.terms) {
    const int i = iter_index(child.block(), term);
    if (i >= 0) {
      accumulate(out.sum, iters.values[static_cast<std::size_t>(i)], factor);
      continue;
    }
    if (ir::is_var(term)) {
      accumulate(out.sum, arith::to_linear(term), factor);
      continue;
    }
    out.compound = true;
    const ir::expr there = ir::substitute(term, ir::bindings(*child.realize));
    accumulate(out.sum, arith::to_linear(there), factor);
  }
  return out;
}

}  // namespace footprints

TILEWRIGHT_INLINE arith::linear in_loops(const ir::expr& e, const child_block& child) {
  using namespace footprints;
  unfolded value = unfold(e, child);
  if (!value.compound && compound_terms(value.sum) == 0) return std::move(value.sum);
  return simplified(value.sum, child.loops);
}

namespace footprints {

/// Adds the digits of a sum, those of moving loops at their ends; false where it has other terms.
inline bool relax_digits(const linear& rest, const child_block& child, standing_loops standing,
                         linear_range& out) {
  const auto digits = digit_terms(rest, child.loops);
  if (!digits) return false;
  bounds ends{0, 0};
  linear still = constant(0, rest.type);
  for (const digit_term& d : *digits) {
    const auto& [term, factor] = rest.terms[d.term];
    if (d.digit && standing.moves(child, d.digit->loop))
      ends = arith::add(ends, arith::scale(d.digit->range, factor));
    else
      still.terms.emplace_back(term, factor);
  }
  const bounds all = arith::bounds_of(rest.type);
  if (!ends.bounded() || ends.lo < all.lo || ends.hi > all.hi) return false;
  accumulate(*out.lo, still);
  accumulate(*out.hi, still);
  out.lo->constant += ends.lo;
  out.hi->constant += ends.hi;
  return true;
}

/// Values of a digit of a sum of loops that all move; nothing for other terms.
inline std::optional<bounds> run_of_digit(const ir::expr& term, const child_block& child,
                                          standing_loops standing, loop_places& places) {
  const auto is_whole = [](const ir::expr& e) {
    return e->op == ir::op::add || e->op == ir::op::mul;
  };
  const std::optional<digit> d = digit_of(term, is_whole);
  if (!d) return std::nullopt;
  const linear sum = arith::to_linear(d->v);
  bounds out{sum.constant, sum.constant};
  for (const auto& [loop, factor] : sum.terms) {
    const int at = places.of(loop);
    if (at < 0 || !standing.moves(child, static_cast<std::size_t>(at))) return std::nullopt;
    const ir::loop_node& l = *child.loops[static_cast<std::size_t>(at)];
    const bounds b = constant_range(l.min, l.extent);
    if (!b.bounded()) return std::nullopt;
    out = arith::add(out, arith::scale(b, factor));
  }
  if (out.lo < 0) return std::nullopt;
  if (d->divisor > 1) out = arith::floor_divide(out, d->divisor);
  return d->count > 0 ? arith::floor_modulo(out, d->count) : out;
}

/// As relax_digits, of terms that stand still and of digits of sums.
inline bool relax_sums(const linear& rest, const child_block& child, standing_loops standing,
                       loop_places& places, linear_range& out) {
  bounds ends{0, 0};
  linear still = constant(0, rest.type);
  for (const auto& [term, factor] : rest.terms) {
    if (stands_still(term, child, standing)) {
      still.terms.emplace_back(term, factor);
      continue;
    }
    const std::optional<bounds> run = run_of_digit(term, child, standing, places);
    if (!run) return false;
    ends = arith::add(ends, arith::scale(*run, factor));
  }
  const bounds all = arith::bounds_of(rest.type);
  if (!ends.bounded() || ends.lo < all.lo || ends.hi > all.hi) return false;
  accumulate(*out.lo, still);
  accumulate(*out.hi, still);
  out.lo->constant += ends.lo;
  out.hi->constant += ends.hi;
  return true;
}

/// The sum without variables of loops that run once, where the analyzer would leave the rest as it is: no two terms that
/// are digits follow the same loop, so that none of them cancels another one out.
inline std::optional<linear> of_digits_apart(const linear& sum, const loop_nest& loops) {
  loop_marks used(loops.size(), 0), own(loops.size(), 0);
  loop_places places(loops);
  linear out = constant(sum.constant, sum.type);
  out.terms.reserve(sum.terms.size());
  for (const auto& term : sum.terms) {
    if (ir::is_var(term.first)) {
      const int at = places.of(term.first);
      const ir::loop_node* l = at < 0 ? nullptr : loops[static_cast<std::size_t>(at)];
      if (!l || !ir::is_int(l->extent, 1) || !ir::is_int(l->min, 0)) out.terms.push_back(term);
      continue;
    }
    if (ir::reads_memory(term.first)) return std::nullopt;
    std::fill(own.begin(), own.end(), 0);
    mark_used(term.first, places, own);
    for (std::size_t l = 0; l < loops.size(); ++l) {
      if (own[l] && (used[l] || ir::is_int(loops[l]->extent, 1))) return std::nullopt;
      used[l] = static_cast<char>(used[l] | own[l]);
    }
    out.terms.push_back(term);
  }
  return out;
}

/// What footprints are found of: the sum as it is where a single digit cancels nothing out, else as the analyzer writes it.
inline linear plain(linear sum, const loop_nest& loops) {
  if (compound_terms(sum) <= 1) return sum;
  if (std::optional<linear> apart = of_digits_apart(sum, loops)) return std::move(*apart);
  return simplified(sum, loops);
}

}  // namespace footprints

TILEWRIGHT_INLINE linear_range relax(const arith::linear& sum, const child_block& child,
                                     standing_loops standing) {
  using namespace footprints;
  linear_range out{constant(sum.constant, sum.type), constant(sum.constant, sum.type)};
  loop_places places(child.loops);
  arith::linear rest = constant(0, sum.type);     // what needs the analyzer
  for (const auto& [term, factor] : sum.terms) {  // the terms of a sum are different
    if (ir::is_var(term)) {
      const int index = places.of(term);
      if (index < 0 || !standing.moves(child, static_cast<std::size_t>(index))) {
        out.lo->terms.emplace_back(term, factor);
        out.hi->terms.emplace_back(term, factor);
        continue;
      }
      const ir::loop_node& l = *child.loops[static_cast<std::size_t>(index)];
      const bounds b = constant_range(l.min, l.extent);
      if (b.bounded()) {
        out.lo->constant += factor * (factor > 0 ? b.lo : b.hi);
        out.hi->constant += factor * (factor > 0 ? b.hi : b.lo);
        continue;
      }
    }
    rest.terms.emplace_back(term, factor);
  }
  if (rest.terms.empty()) return out;
  if (support::all(rest.terms,
                   [&](const auto& term) { return stands_still(term.first, child, standing); })) {
    accumulate(*out.lo, rest);
    accumulate(*out.hi, rest);
    return out;
  }
  if (relax_digits(rest, child, standing, out) || relax_sums(rest, child, standing, places, out))
    return out;
  const loop_nest asked = asked_loops(rest, child.loops);
  loop_nest moving;
  for (std::size_t l = 0, a = 0; a < asked.size(); ++l) {
    if (child.loops[l] != asked[a]) continue;
    if (standing.moves(child, l)) moving.push_back(asked[a]);
    ++a;
  }
  const arith::interval part =
      arith::bound_over(arith::from_linear(rest), domains(moving), knowing(asked));
  const auto add = [](std::optional<arith::linear>& side, const ir::expr& by) {
    if (by)
      accumulate(*side, arith::to_linear(by));
    else
      side.reset();
  };
  add(out.lo, part.lo);
  add(out.hi, part.hi);
  return out;
}

namespace footprints {

/// Values of an expression over the block's iteration variables while the moving loops run.
inline linear_range run(const ir::expr& e, const child_block& child, standing_loops standing) {
  const int alone = iter_index(child.block(), e);
  if (alone >= 0) {
    const linear& value = bind_iters(child).values[static_cast<std::size_t>(alone)];
    if (compound_terms(value) <= 1) return relax(value, child, standing);
    return relax(plain(value, child.loops), child, standing);
  }
  unfolded value = unfold(e, child);
  return relax(value.compound ? simplified(value.sum, child.loops)
                              : plain(std::move(value.sum), child.loops),
               child, standing);
}

/// Constant bounds of a dimension: the clipped iteration variables bound it, and so does the shape.
inline bounds constant_bounds(const access& a, std::size_t d) {
  const ir::range& dim = a.region.box[d];
  const std::vector<bounds>& clip = a.iters().clip;
  bounds b;
  if (const int alone = iter_index(a.block(), dim.min); alone >= 0) {
    b = clip[static_cast<std::size_t>(alone)];
  } else {
    const arith::linear sum = arith::to_linear(dim.min);
    b = {sum.constant, sum.constant};
    for (const auto& [term, factor] : sum.terms) {
      const int i = iter_index(a.block(), term);
      b = arith::add(b, i < 0 ? bounds{} : arith::scale(clip[static_cast<std::size_t>(i)], factor));
    }
  }
  if (ir::is_int(dim.extent))
    b = arith::add(b, {0, ir::as_int(dim.extent) - 1});
  else
    b.hi = bounds::positive_infinity;
  return meet(b, bounds_of_shape(a.region, d));
}

}  // namespace footprints

TILEWRIGHT_INLINE footprint touched(const access& a, standing_loops standing) {
  using namespace footprints;
  const ir::block_node& block = a.block();
  footprint out(a.region.box.size());
  for (std::size_t d = 0; d < out.size(); ++d) {
    const ir::range& dim = a.region.box[d];
    span& s = out[d];
    linear_range first = run(dim.min, a.by, standing);
    s.lo = std::move(first.lo);
    s.hi = std::move(first.hi);
    if (!ir::is_int(dim.extent)) {
      const ir::expr last = dim.min + dim.extent - ir::integer(dim.extent.type(), 1);
      s.hi = run(last, a.by, standing).hi;
    } else if (s.hi) {
      s.hi->constant += ir::as_int(dim.extent) - 1;
    }
    s.within = constant_bounds(a, d);
    cut_by_sides(s);
    if (!s.lo && s.within.lo != bounds::negative_infinity)
      s.lo = constant(s.within.lo, dim.min.type());
    if (const int alone = iter_index(block, dim.min); !s.hi && alone >= 0) {
      const ir::range& dom = block.iters[static_cast<std::size_t>(alone)].dom;
      if (!ir::is_int(dom.extent) && ir::is_int(dim.extent, 1))
        s.hi = difference(arith::to_linear(dom.min + dom.extent), constant(1, dom.min.type()));
    }
    if (!s.hi && s.within.hi != bounds::positive_infinity)
      s.hi = constant(s.within.hi, dim.min.type());
  }
  return out;
}

TILEWRIGHT_INLINE bool reduction_done(const child_block& child, standing_loops standing) {
  const std::vector<ir::iter_var>& vars = child.block().iters;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].kind == ir::iter_kind::spatial) continue;
    for (std::size_t l = 0; l < child.loops.size() && l < standing.fixed; ++l)
      if (!standing.moves(child, l) && !ir::is_int(child.loops[l]->extent, 1) &&
          ir::uses_var(child.realize->values[i], child.loops[l]->var))
        return false;
  }
  return true;
}

}  // namespace tilewright::dependence
