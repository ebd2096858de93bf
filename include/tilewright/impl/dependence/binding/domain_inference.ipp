#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include <tilewright/arith/interval.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/impl/dependence/binding/digit.hpp>
#include <tilewright/impl/dependence/binding/domain_inference.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/binding/solved_domain.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {
namespace domains_of {

/// Whether some dimension of single points is made of several iteration variables: a mixed-radix
/// sum of them, or a digit of one.
inline bool mixes_digits(const ir::block_node& block, const ir::buffer_region& region) {
  bool mixes = false;
  for (const ir::range& dim : region.box) {
    if (!ir::is_int(dim.extent, 1)) return false;
    if (mixes || iter_index(block, dim.min) >= 0) continue;
    mixes = std::count_if(block.iters.begin(), block.iters.end(),
                          [&](const ir::iter_var& v) { return ir::uses_var(dim.min, v.var); }) > 1;
  }
  return mixes;
}

/// Domains of the variables of a bijective index map, by the inverse of it: the indices
/// `v0 * 16 + v1` are `x` where v0 is x // 16 and v1 is x % 16. Nothing when there is no inverse.
inline std::optional<std::vector<iter_domain>> invert(const ir::block_node& block,
                                                      const ir::buffer_region& region,
                                                      const footprint& required,
                                                      const loop_list& loops) {
  arith::analyzer known = knowing(loops);
  arith::loop_domains places;
  std::vector<ir::expr> indices, values;
  for (std::size_t d = 0; d < region.box.size(); ++d) {
    const span& place = required[d];
    const auto count = place.lo && place.hi ? count_of(*place.lo, *place.hi, loops) : std::nullopt;
    if (!count) return std::nullopt;
    const ir::expr lo = arith::from_linear(*place.lo);
    indices.push_back(region.box[d].min);
    values.push_back(lo);
    if (*count == 1) continue;
    const ir::var offset = ir::make_var("offset", lo.type());
    places.emplace_back(offset,
                        ir::range{ir::integer(lo.type(), 0), ir::integer(lo.type(), *count)});
    values.back() = lo + offset;
  }
  const auto map =
      arith::detect_iter_map(indices, dependence::domains(block.iters), ir::boolean(true),
                             arith::iter_map_level::bijective, known);
  const auto inverse = map ? arith::inverse_affine(*map, values) : std::nullopt;
  if (!inverse) return std::nullopt;
  std::vector<iter_domain> out(block.iters.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto value = inverse->find(block.iters[i].var);
    if (value == inverse->end()) continue;
    const arith::interval part = arith::bound_over(value->second, places, known);
    if (part.lo) out[i].lo = arith::to_linear(known.simplify(part.lo));
    if (part.hi) out[i].hi = arith::to_linear(known.simplify(part.hi));
  }
  return out;
}

inline bool uses_iters(const ir::block_node& block, const ir::expr& e) {
  return support::any(block.iters, [&](const ir::iter_var& v) { return ir::uses_var(e, v.var); });
}

/// Narrows the variables of `sum`, whose constant part lies in `rest`, to what meets `wanted`. The one with the largest factor is
/// solved for while the others run; where it has one value there, what is left is about the others, as digits of a number are.
/// What the block sees of the blocks around it stands.
inline void solve_sum(const ir::block_node& block, const linear& sum, span wanted,
                      const bounds& rest, const loop_list& loops, std::vector<iter_domain>& out) {
  std::vector<std::pair<std::size_t, std::int64_t>> factors;  // of variables
  for (const auto& [term, f] : sum.terms) {
    if (const int i = iter_index(block, term); i >= 0) {
      factors.emplace_back(static_cast<std::size_t>(i), f);
      continue;
    }
    if (uses_iters(block, term) || ir::reads_memory(term)) return;
    for (auto* side : {&wanted.lo, &wanted.hi})
      if (*side) accumulate(**side, arith::to_linear(term), -f);
  }
  while (!factors.empty()) {
    const auto smaller = [](const auto& a, const auto& b) {
      return std::abs(a.second) < std::abs(b.second);
    };
    const auto largest = std::max_element(factors.begin(), factors.end(), smaller);
    const std::size_t solved = largest->first;
    const std::int64_t factor = largest->second;
    factors.erase(largest);
    bounds others = rest;
    for (const auto& [i, f] : factors)
      others = arith::add(others, arith::scale(constant_range(block.iters[i].dom), f));
    iter_domain domain = solve(wanted, factor, others, loops);
    const bool one = domain.lo && domain.hi &&
                     footprints::constant_sum(*domain.hi, *domain.lo, -1) == std::int64_t{0};
    if (one && !factors.empty())
      for (auto* side : {&wanted.lo, &wanted.hi}) accumulate(**side, *domain.lo, -factor);
    narrow(out[solved], std::move(domain), loops);
    if (!one) return;
  }
}

/// Domains from one region of the block.
inline std::vector<iter_domain> solve_region(const ir::block_node& block,
                                             const ir::buffer_region& region,
                                             const footprint& required, const loop_list& loops) {
  if (mixes_digits(block, region))
    if (auto inverted = invert(block, region, required, loops)) return *std::move(inverted);
  std::vector<iter_domain> out(block.iters.size());
  std::vector<std::vector<std::pair<digit, const span*>>> digits(block.iters.size());
  const auto iter_of = [&](const ir::expr& v) {
    const int i = iter_index(block, v);
    return i < 0 ? out.size() : static_cast<std::size_t>(i);
  };
  for (std::size_t d = 0; d < region.box.size(); ++d) {
    if (!ir::is_int(region.box[d].extent)) continue;
    if (const int alone = iter_index(block, region.box[d].min); alone >= 0) {
      const bounds width{0, ir::as_int(region.box[d].extent) - 1};
      narrow(out[static_cast<std::size_t>(alone)], solve(required[d], 1, width, loops), loops);
      continue;
    }
    const linear sum = arith::to_linear(region.box[d].min);
    const bounds rest{sum.constant, sum.constant + ir::as_int(region.box[d].extent) - 1};
    if (sum.terms.size() == 1 && sum.terms[0].second == 1 && sum.constant == 0 &&
        ir::is_int(region.box[d].extent, 1)) {
      const std::optional<digit> one = digit_of(sum.terms[0].first);
      if (one && (one->divisor != 1 || one->count != 0)) {
        const std::size_t i = iter_of(one->v);
        if (i < out.size()) digits[i].emplace_back(*one, &required[d]);
        continue;
      }
    }
    solve_sum(block, sum, required[d], rest, loops, out);
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!digits[i].empty()) narrow(out[i], join_digits(std::move(digits[i])), loops);
  return out;
}

/// What becomes part of a program is written as the analyzer writes it, also where footprints need
/// not look into quotients of the standing loops: without loops of one iteration, in order.
inline void simplify(footprint& box, const loop_nest& loops) {
  const auto write = [&](std::optional<linear>& side) {
    if (side && footprints::compound_terms(*side) > 0) *side = footprints::simplified(*side, loops);
  };
  for (span& s : box) {
    write(s.lo);
    write(s.hi);
  }
}

}  // namespace domains_of

TILEWRIGHT_INLINE void add_requirement(std::vector<requirement>& list, const ir::buffer& buffer,
                                       footprint box, const loop_nest& loops) {
  using namespace domains_of;
  domains_of::simplify(box, loops);
  for (requirement& r : list) {
    if (r.buffer != buffer) continue;
    for (std::size_t d = 0; d < box.size(); ++d) {
      r.box[d].lo = outer_side(r.box[d].lo, box[d].lo, true, loops);
      r.box[d].hi = outer_side(r.box[d].hi, box[d].hi, false, loops);
      r.box[d].within = {std::min(r.box[d].within.lo, box[d].within.lo),
                         std::max(r.box[d].within.hi, box[d].within.hi)};
    }
    return;
  }
  list.push_back({buffer, std::move(box)});
}

TILEWRIGHT_INLINE std::vector<iter_domain> infer_domains(
    const ir::block_node& block, const std::vector<ir::buffer_region>& provided,
    const std::vector<requirement>& required, const loop_nest& loops) {
  using namespace domains_of;
  std::vector<iter_domain> out(block.iters.size());
  bool first = true;
  for (const ir::buffer_region& region : provided) {
    for (const requirement& r : required) {
      if (r.buffer != region.buffer) continue;
      std::vector<iter_domain> part = solve_region(block, region, r.box, loops);
      if (first) {
        out = std::move(part);
        first = false;
        continue;
      }
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].lo = outer_side(out[i].lo, part[i].lo, true, loops);
        out[i].hi = outer_side(out[i].hi, part[i].hi, false, loops);
        out[i].widest.reset();
      }
    }
  }
  return out;
}

namespace domains_of {

/// Number of values of a domain with both sides.
inline linear length_of(const iter_domain& solved) {
  linear out = difference(*solved.hi, *solved.lo);
  ++out.constant;
  return out;
}

/// Whether a domain is less than the symbolic one around it, certainly inside, and equally long in
/// every iteration of the loops.
inline bool is_part(const iter_domain& solved, const ir::range& domain, const loop_list& loops) {
  if (!solved.lo || !solved.hi) return false;
  const linear length = length_of(solved);
  if (footprints::constant_sum(length, arith::to_linear(domain.extent), -1) == 0) return false;
  for (const ir::loop_node* l : loops)
    if (ir::uses_var(arith::from_linear(length), l->var)) return false;
  const arith::analyzer known = knowing(loops);
  return known.prove_le(domain.min, arith::from_linear(*solved.lo)) &&
         known.prove_lt(arith::from_linear(*solved.hi), domain.min + domain.extent);
}

/// Whether values behind the end of what was solved are in the domain, as far as one can tell.
inline bool ends_before(const iter_domain& solved, const ir::range& domain,
                        const loop_list& loops) {
  if (!solved.hi) return false;
  const ir::expr end = domain.min + domain.extent;
  if (footprints::constant_sum(*solved.hi, arith::to_linear(end), -1) == -1) return false;
  linear next = *solved.hi;
  ++next.constant;
  return !knowing(loops).prove_le(end, arith::from_linear(next));
}

/// An iteration variable whose domain has symbolic bounds. `count` iterations suffice where that is known.
inline fitted_iter fit_symbolic(const iter_domain& solved, const ir::range& domain,
                                const arith::bounds& clip, const loop_nest& loops,
                                const std::optional<std::int64_t>& count, bool exact) {
  fitted_iter out;
  out.exact = exact;
  if (count && clip.lo != bounds::negative_infinity) {
    out.start = solved.lo;
    out.extent = *count;
    const linear end = difference(arith::to_linear(domain.min + domain.extent), *solved.hi);
    if (range_of(end, loops).lo < 1) out.below = domain.min + domain.extent;
    const linear begin = difference(*solved.lo, arith::to_linear(domain.min));
    if (range_of(begin, loops).lo < 0 || range_of(*solved.lo, loops).lo < clip.lo)
      out.at_least = clip.lo;
    return out;
  }
  if (is_part(solved, domain, loops)) {
    out.start = solved.lo;
    out.symbolic_extent = arith::from_linear(length_of(solved));
    return out;
  }
  out.symbolic_extent = domain.extent;
  out.exact = !ends_before(solved, domain, loops);
  if (clip.lo != bounds::negative_infinity &&
      !(ir::is_int(domain.min) && ir::as_int(domain.min) >= clip.lo))
    out.at_least = clip.lo;
  if (clip.hi != bounds::positive_infinity) out.at_most = clip.hi;
  return out;
}

}  // namespace domains_of

TILEWRIGHT_INLINE fitted_iter fit(const iter_domain& solved, const ir::range& domain,
                                  const arith::bounds& clip, const loop_nest& loops) {
  using namespace domains_of;
  fitted_iter out;
  const auto start_at = [&](std::int64_t value) {
    return footprints::constant(value, domain.extent.type());
  };
  std::optional<std::int64_t> count;
  bool as_many = false;  // in every iteration
  if (solved.lo && solved.hi) {
    const bounds width = footprints::range_of_difference(*solved.hi, *solved.lo, loops);
    count = count_within(width, solved.lo->type);
    as_many = width.is_point();
    if (solved.widest && (!count || *solved.widest < *count)) {
      count = solved.widest;
      out.exact = false;
    }
  }
  if (!clip.bounded()) return fit_symbolic(solved, domain, clip, loops, count, out.exact);
  const std::int64_t there = clip.hi - clip.lo + 1;
  if (!solved.lo || !solved.hi || !count || (!as_many && *count > there)) {
    out.start = start_at(clip.lo);
    out.extent = there;
    out.exact = !solved.lo || !solved.hi;
    return out;
  }
  if (solved.lo->is_constant() && solved.hi->is_constant()) {
    const std::int64_t lo = std::max(solved.lo->constant, clip.lo);
    out.start = start_at(lo);
    out.extent = std::min(solved.hi->constant, clip.hi) - lo + 1;
    return out;
  }
  const bounds lo = range_of(*solved.lo, loops), hi = range_of(*solved.hi, loops);
  if (lo.hi <= clip.lo && hi.lo >= clip.hi) {  // every iteration needs all of it
    out.start = start_at(clip.lo);
    out.extent = there;
    return out;
  }
  if (!as_many) out.exact = false;
  out.start = solved.lo;
  out.extent = *count;
  if (lo.lo < clip.lo) out.at_least = clip.lo;
  if (arith::add(lo, {*count - 1, *count - 1}).hi > clip.hi) out.at_most = clip.hi;
  return out;
}

namespace domains_of {

inline bool is_digit_within(const linear& value, const ir::range& domain, const loop_list& loops) {
  if (value.constant != 0 || value.terms.size() != 1 || value.terms[0].second != 1 ||
      !ir::is_int(domain.min, 0) || value.terms[0].first->args.size() != 2)
    return false;
  const ir::expr& digit = value.terms[0].first;
  const int at = loop_index(loops, digit->args[0]);
  if (at < 0) return footprints::digit_within(digit, domain.extent, {});
  const ir::loop_node& loop = *loops[static_cast<std::size_t>(at)];
  return footprints::digit_within(digit, domain.extent, {loop.min, loop.extent});
}

}  // namespace domains_of

TILEWRIGHT_INLINE std::vector<fitted_iter> fit(const ir::block_node& block,
                                               const std::vector<iter_domain>& solved,
                                               const std::vector<arith::bounds>& clip,
                                               const loop_nest& loops) {
  std::vector<fitted_iter> out;
  out.reserve(block.iters.size());
  for (std::size_t i = 0; i < block.iters.size(); ++i) {
    const ir::range& domain = block.iters[i].dom;
    fitted_iter& fitted = out.emplace_back(fit(solved[i], domain, clip[i], loops));
    if (!fitted.symbolic_extent && fitted.extent <= 0) {
      out.pop_back();
      return out;
    }
    if (!ir::is_int(domain.extent) && clip[i].bounded()) {  // a guard by a number cuts it too
      arith::linear last = *fitted.start;
      last.constant += fitted.extent - 1;
      const ir::expr end = domain.min + domain.extent;
      if (range_of(difference(arith::to_linear(end), last), loops).lo < 1) fitted.below = end;
    }
    if (fitted.start && fitted.extent == 1 && (fitted.below || fitted.at_least || fitted.at_most) &&
        domains_of::is_digit_within(*fitted.start, domain, loops)) {
      const arith::bounds values = constant_range(domain);
      if (fitted.at_least && values.lo >= *fitted.at_least) fitted.at_least.reset();
      if (fitted.at_most && values.hi <= *fitted.at_most) fitted.at_most.reset();
      fitted.below = {};
    }
  }
  return out;
}

TILEWRIGHT_INLINE ir::stmt make_nest(const ir::block& block,
                                     const std::vector<fitted_iter>& domains, bool keep_unit_loops,
                                     const ir::expr& jointly) {
  if (domains.size() < block->iters.size()) return {};
  struct emitted_loop {
    ir::var v;
    ir::expr extent;
  };
  std::vector<ir::expr> values;
  std::vector<emitted_loop> nest;
  ir::var_map now;
  values.reserve(block->iters.size());
  nest.reserve(block->iters.size());
  ir::expr predicate = ir::boolean(true);
  const auto guard = [&](const ir::expr& condition) {
    predicate = ir::logical_and(predicate, condition);
  };
  for (std::size_t i = 0; i < block->iters.size(); ++i) {
    const ir::iter_var& iter = block->iters[i];
    const fitted_iter& fitted = domains[i];
    const dtype type = iter.var.type();
    const bool symbolic = static_cast<bool>(fitted.symbolic_extent);
    arith::linear value = fitted.start ? *fitted.start : arith::to_linear(iter.dom.min);
    value.type = type;
    if (symbolic || fitted.extent != 1 || keep_unit_loops) {
      const ir::expr extent = symbolic ? fitted.symbolic_extent : ir::integer(type, fitted.extent);
      nest.push_back({ir::make_var("ax" + std::to_string(nest.size()), type), extent});
      value.terms.emplace_back(nest.back().v, 1);
    }
    const ir::expr at = ir::cast(type, arith::from_linear(value));
    if (fitted.at_least) guard(ir::ge(at, ir::integer(type, *fitted.at_least)));
    if (fitted.at_most) guard(ir::lt(at, ir::integer(type, *fitted.at_most + 1)));
    if (fitted.below) guard(ir::lt(at, fitted.below));
    values.push_back(at);
    now.emplace(iter.var, at);
  }
  if (!ir::is_true(jointly)) guard(ir::substitute(jointly, now));
  ir::stmt out = ir::make_realize(std::move(values), std::move(predicate), block);
  for (std::size_t i = nest.size(); i-- > 0;)
    out =
        ir::make_loop(nest[i].v, ir::integer(nest[i].v.type(), 0), nest[i].extent, std::move(out));
  return out;
}

}  // namespace tilewright::dependence
