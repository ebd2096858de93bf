#pragma once

#include <cstdlib>
#include <utility>

#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/binding/binding_division.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::dependence {
namespace subspaces {

enum part : std::uint8_t { neither = 0, outer_part = 1, inner_part = 2, both = 3 };

/// Which loops an expression uses.
inline part part_of(const ir::expr& e, const child_block& c, std::size_t first) {
  int out = neither;
  for (const ir::var& v : ir::free_vars(e)) {
    const int at = loop_index(c.loops, v);
    if (at >= 0) out |= static_cast<std::size_t>(at) < first ? outer_part : inner_part;
  }
  return static_cast<part>(out);
}

/// A binding as a sum: what the outer loops and constants add, and what the inner loops add.
struct halves {
  arith::linear outer, inner, base;  // base: neither kind of loop
  arith::linear outer_units, inner_units;
};

inline bool is_unit_loop(const ir::expr& term, const child_block& c) {
  const int at = loop_index(c.loops, term);
  return at >= 0 && ir::is_int(c.loops[static_cast<std::size_t>(at)]->extent, 1);
}

inline std::optional<halves> halve(const ir::expr& value, const child_block& c, std::size_t first,
                                   const arith::analyzer& known) {
  arith::linear sum = arith::to_linear(value);
  bool mixed = false;
  for (const auto& term : sum.terms) mixed = mixed || part_of(term.first, c, first) == both;
  if (mixed) sum = arith::to_linear(known.simplify(value));
  halves out;
  for (arith::linear* part :
       {&out.outer, &out.inner, &out.base, &out.outer_units, &out.inner_units})
    part->type = value.type();
  out.base.constant = sum.constant;
  for (const auto& [term, factor] : sum.terms) {
    const bool unit = is_unit_loop(term, c);
    switch (part_of(term, c, first)) {
      case neither: out.base.terms.emplace_back(term, factor); break;
      case outer_part: (unit ? out.outer_units : out.outer).terms.emplace_back(term, factor); break;
      case inner_part: (unit ? out.inner_units : out.inner).terms.emplace_back(term, factor); break;
      case both: return std::nullopt;
    }
  }
  return out;
}

inline ir::expr source_of(const arith::iter_map& map, const ir::var& source);

inline ir::expr split_expr(const arith::iter_map& map, const arith::iter_split& s) {
  const ir::expr source = source_of(map, s.source);
  const dtype type = source.type();
  std::int64_t whole = -1;
  for (const auto& [v, r] : map.loops)
    if (v.same(s.source) && ir::is_int(r.extent)) whole = ir::as_int(r.extent);
  for (const arith::fused_iter& f : map.fused)
    if (f.var.same(s.source)) whole = f.extent;
  if (s.symbolic_extent) return source;
  const std::int64_t end = s.lower_factor * s.extent;
  const ir::expr low = end == whole ? source : ir::floormod(source, ir::integer(type, end));
  return ir::floordiv(low, ir::integer(type, s.lower_factor));
}

inline ir::expr sum_expr(const arith::iter_map& map, const arith::iter_sum& sum, dtype type) {
  ir::expr out = ir::integer(type, 0);
  for (const arith::iter_split& s : sum.splits)
    out = out + split_expr(map, s) * ir::integer(type, s.scale);
  return out + sum.base;
}

inline ir::expr source_of(const arith::iter_map& map, const ir::var& source) {
  for (const arith::fused_iter& f : map.fused)
    if (f.var.same(source)) return sum_expr(map, f.value, source.type());
  for (const auto& [v, r] : map.loops)
    if (v.same(source)) return source - r.min;
  return source;
}

/// Number of values of a sum whose lowest digit has scale 1; null when there is none such.
inline ir::expr extent_of(const arith::iter_sum& sum, dtype type) {
  if (sum.splits.empty()) return ir::integer(type, 1);
  if (sum.splits.back().scale != 1) return {};
  const arith::iter_split& top = sum.splits.front();
  if (top.symbolic_extent)
    return ir::cast(type, top.symbolic_extent) * ir::integer(type, top.scale);
  return ir::integer(type, top.extent * top.scale);
}

/// The digits of a sum and the unit loops that belong to it, by falling scale and then as the loops
/// stand.
inline ir::expr with_units(const arith::iter_map& map, const arith::iter_sum& sum,
                           const arith::linear& units, std::int64_t unit, const child_block& c) {
  struct term {
    std::int64_t scale;
    int loop;
    ir::expr value;
  };
  std::vector<term> terms;
  for (const auto& [v, factor] : units.terms)
    if (factor % unit == 0) terms.push_back({factor / unit, loop_index(c.loops, v), v});
  for (const arith::iter_split& s : sum.splits)
    terms.push_back({s.scale, loop_index(c.loops, s.source), split_expr(map, s)});
  support::stable_sort(terms, [](const term& a, const term& b) {
    return a.scale != b.scale ? a.scale > b.scale : a.loop < b.loop;
  });
  ir::expr out = ir::integer(units.type, 0);
  for (const term& t : terms)
    out = out + ir::cast(units.type, t.value) * ir::integer(units.type, t.scale);
  return out;
}

inline bool divide(arith::linear& sum, std::int64_t by) {
  if (!footprints::divide_terms(sum, by) || sum.constant % by != 0) return false;
  sum.constant /= by;
  return true;
}

inline std::optional<arith::iter_map> detect(const std::vector<ir::expr>& values,
                                             const arith::loop_domains& loops,
                                             const ir::expr& predicate,
                                             const arith::analyzer& known) {
  return arith::detect_iter_map(values, loops, predicate, arith::iter_map_level::surjective, known);
}

/// A constant added to inner digits alone moves the inner domain; added to others it belongs to the
/// outer value, whose domain then follows from that of the variable.
struct affine_division {
  const child_block& c;
  std::size_t first;
  bool preserve;
  std::vector<halves> parts;
  std::optional<arith::iter_map> inner, outer;

  bool run(division& out) {
    arith::analyzer known = knowing(c.loops);
    std::vector<ir::expr> inner_values, outer_values;
    for (const ir::expr& value : c.realize->values) {
      std::optional<halves> h = halve(value, c, first, known);
      if (!h) return false;
      inner_values.push_back(arith::from_linear(h->inner));
      parts.push_back(std::move(*h));
    }
    const loop_nest before = loops_before(c.loops, first);
    inner = detect(inner_values, domains(c.loops, first), out.inner_predicate, knowing(before));
    if (!inner) return false;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!place_inner(i, out)) return false;
    for (const halves& h : parts) outer_values.push_back(arith::from_linear(h.outer));
    outer = detect(outer_values, domains(before), out.outer_predicate, {});
    if (!outer) return false;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!place_outer(i, out)) return false;
    return true;
  }

  bool place_inner(std::size_t i, division& out) {
    halves& h = parts[i];
    const dtype type = c.realize->values[i].type();
    divided_iter d;
    const ir::expr extent = extent_of(inner->indices[i], type);
    if (!extent || !ir::is_int(inner->indices[i].base, 0)) return false;
    d.inner = preserve ? with_units(*inner, inner->indices[i], h.inner_units, 1, c)
                       : sum_expr(*inner, inner->indices[i], type);
    d.inner_dom = {ir::integer(type, 0), extent};
    if (!h.outer.terms.empty() || !h.base.terms.empty()) {
      if (!ir::is_int(extent)) return false;
      if (!divide(h.outer, ir::as_int(extent)) || !divide(h.base, ir::as_int(extent))) return false;
    } else if (h.base.constant != 0 && !ir::is_int(extent, 1)) {
      d.inner_dom.min = ir::integer(type, h.base.constant);
      d.inner = d.inner + d.inner_dom.min;
      h.base.constant = 0;
    }
    out.iters.push_back(std::move(d));
    return true;
  }

  bool place_outer(std::size_t i, division& out) {
    const halves& h = parts[i];
    const dtype type = c.realize->values[i].type();
    divided_iter& d = out.iters[i];
    const ir::expr extent = extent_of(outer->indices[i], type);
    if (!extent || !ir::is_int(outer->indices[i].base, 0)) return false;
    const std::int64_t unit = ir::is_int(d.inner_dom.extent) ? ir::as_int(d.inner_dom.extent) : 1;
    d.outer = preserve ? with_units(*outer, outer->indices[i], h.outer_units, unit, c)
                       : sum_expr(*outer, outer->indices[i], type);
    d.outer_dom = {ir::integer(type, 0), extent};
    if (h.base.is_constant() && h.base.constant == 0) return true;
    const ir::range& dom = c.block().iters[i].dom;
    d.outer = d.outer + arith::from_linear(h.base);
    d.outer_dom.extent = ir::ceildiv(dom.min + dom.extent, d.inner_dom.extent);
    return true;
  }
};

/// Every binding belongs to one part as a whole.
inline bool divide_trivially(const child_block& c, std::size_t first, division& out) {
  if (!ir::is_true(c.realize->predicate)) return false;
  for (std::size_t i = 0; i < c.realize->values.size(); ++i) {
    const ir::expr& value = c.realize->values[i];
    const dtype type = value.type();
    const ir::expr zero = ir::integer(type, 0), one = ir::integer(type, 1);
    const part p = part_of(value, c, first);
    if (p == both) return false;
    if (p == inner_part)
      out.iters.push_back({zero, {zero, one}, value, c.block().iters[i].dom});
    else
      out.iters.push_back({value, c.block().iters[i].dom, zero, {zero, one}});
  }
  return true;
}

}  // namespace subspaces

TILEWRIGHT_INLINE std::optional<division> divide_bindings(const child_block& child,
                                                          std::size_t first,
                                                          bool preserve_unit_iters,
                                                          std::string& why) {
  using namespace subspaces;
  division out;
  out.outer_predicate = out.inner_predicate = ir::boolean(true);
  ir::var_map units;
  for (const ir::loop_node* l : child.loops)
    if (ir::is_int(l->extent, 1)) units.emplace(l->var, l->min);
  for (ir::expr conjunct : ir::conjuncts(child.realize->predicate)) {
    part p = part_of(conjunct, child, first);
    const ir::expr plain = ir::substitute(conjunct, units);
    if (const part of_others = part_of(plain, child, first); of_others != p) {
      conjunct = arith::analyzer().simplify(plain);
      p = of_others;
    }
    if (p == both) {
      why = "its guard mixes outer and inner loops";
      return std::nullopt;
    }
    ir::expr& to = p == inner_part ? out.inner_predicate : out.outer_predicate;
    to = ir::logical_and(to, conjunct);
  }
  const auto keep_symbolic_domains = [&] {
    for (std::size_t i = 0; i < out.iters.size(); ++i) {
      const ir::range& dom = child.block().iters[i].dom;
      divided_iter& d = out.iters[i];
      if (!ir::is_int(dom.min, 0) || ir::is_int(dom.extent)) continue;
      if (ir::is_int(d.inner_dom.extent, 1) && !ir::is_int(d.outer_dom.extent))
        d.outer_dom.extent = dom.extent;
      else if (ir::is_int(d.outer_dom.extent, 1) && !ir::is_int(d.inner_dom.extent))
        d.inner_dom.extent = dom.extent;
    }
  };
  affine_division divided{child, first, preserve_unit_iters, {}, {}, {}};
  if (divided.run(out)) {
    keep_symbolic_domains();
    return out;
  }
  out.iters.clear();
  if (divide_trivially(child, first, out)) return out;
  why = "its bindings are not made of inner digits below outer ones";
  return std::nullopt;
}

}  // namespace tilewright::dependence
