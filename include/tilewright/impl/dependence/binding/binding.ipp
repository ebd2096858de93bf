// How iteration variables follow from loops; declared in scope.hpp.
#pragma once

#include <algorithm>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/impl/dependence/binding/binding_loops.hpp>
#include <tilewright/impl/dependence/binding/fused_binding.hpp>
#include <tilewright/impl/dependence/binding/injective_binding.hpp>
#include <tilewright/impl/dependence/binding/loop_sums.hpp>
#include <tilewright/impl/dependence/binding/taken_digits.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/ragged_nest.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/radix.hpp>

namespace tilewright::dependence {
namespace bindings {

using arith::bounds;

/// One value made of loops: sorted by factor, each loop starts where the smaller ones end. What is
/// made of the loops before `first` alone, such as a quotient of fused ones, is a constant.
inline bool is_radix_sum(const arith::linear& value, const child_block& child, std::size_t first,
                         std::vector<int>& used, taken_digits& digits, std::int64_t& total) {
  constexpr std::size_t most_steps = 8;
  support::radix steps;
  loop_places places(child.loops);
  for (const auto& [term, factor] : value.terms) {
    if (!ir::is_var(term)) {
      if (first > 0 && !uses_loops_from(term, child, first)) continue;
      const std::optional<std::int64_t> count = digits.take(term);
      if (!count || steps.size() == most_steps) return false;
      if (*count > 1) steps.add(factor, *count);
      continue;
    }
    const int index = places.of(term);
    if (index < 0 || static_cast<std::size_t>(index) < first) continue;
    const ir::loop_node& l = *child.loops[static_cast<std::size_t>(index)];
    if (!ir::is_int(l.extent) || !ir::is_int(l.min, 0)) return false;
    if (used[static_cast<std::size_t>(index)]++) return false;
    if (ir::as_int(l.extent) == 1) continue;
    if (steps.size() == most_steps) return false;
    steps.add(factor, ir::as_int(l.extent));
  }
  total = steps.reach() + 1;
  return steps.is_exact();
}

enum class fast_answer : std::uint8_t { no, yes, unknown };

/// Affinity for the bindings that splits and reorders make. With `reduce_whole`, reduce variables
/// must cover their domains although the binding is partial.
inline fast_answer quick_affine(const child_block& child, std::size_t first, bool every_iter) {
  const bound_iters& iters = bind_iters(child);
  if (!iters.understood) return fast_answer::unknown;
  std::vector<int> used(child.loops.size(), 0);
  taken_digits digits(child.loops);
  for (std::size_t i = 0; i < iters.values.size(); ++i) {
    std::int64_t total = 1;
    if (!is_radix_sum(iters.values[i], child, first, used, digits, total))
      return fast_answer::unknown;
    if (first > 0 && !every_iter) continue;
    const bounds dom = constant_range(child.block().iters[i].dom);
    if (!dom.bounded() || !(iters.clip[i] == dom)) return fast_answer::unknown;
    const bool shifted = iters.values[i].constant != dom.lo;
    if (shifted || total < dom.hi - dom.lo + 1) return fast_answer::unknown;
  }
  return digits.are_complete(used) ? fast_answer::yes : fast_answer::unknown;
}

inline bool affine(const child_block& child, std::size_t first) {
  const fast_answer quick = quick_affine(child, first, first == 0);
  if (quick != fast_answer::unknown) return quick == fast_answer::yes;
  const arith::analyzer known = knowing(loops_before(child.loops, first));
  const auto holds = [&](const std::vector<ir::expr>& values,
                         const std::vector<ir::iter_var>& iters) {
    return arith::is_affine_binding(values, iters, domains(child.loops, first),
                                    child.realize->predicate, known);
  };
  if (holds(child.realize->values, child.block().iters)) return true;
  if (!has_remainder(child)) return false;
  const binding_list whole = joined_digits(child);
  return whole.values.size() < child.realize->values.size() && holds(whole.values, whole.iters);
}

/// Every loop from `first` on occurs as a plain digit, and none under a quotient or remainder: then
/// an affine binding uses each loop once and as a whole. The loops before `first` stand still.
inline bool uses_whole_loops(const child_block& child, std::size_t first) {
  std::vector<char> seen(child.loops.size(), 0);
  for (const arith::linear& value : bind_iters(child).values)
    for (const auto& [term, factor] : value.terms) {
      const int loop = ir::is_var(term) ? loop_index(child.loops, term) : -1;
      if (loop >= 0)
        seen[static_cast<std::size_t>(loop)] = 1;
      else if (!ir::is_var(term) && uses_loops_from(term, child, first))
        return false;
    }
  for (std::size_t l = first; l < child.loops.size(); ++l)
    if (!seen[l] && !ir::is_int(child.loops[l]->extent, 1)) return false;
  return true;
}

/// Whether the argument of a quotient or remainder grows in program order.
inline bool runs_upwards(const ir::expr& e, const child_block& child) {
  if (e->op == ir::op::floordiv || e->op == ir::op::floormod)
    return runs_upwards(e->args[0], child);
  const arith::linear sum = arith::to_linear(e);
  arith::linear inner;
  for (std::size_t l = child.loops.size(); l-- > 0;) {
    for (const auto& [term, factor] : sum.terms) {
      if (!ir::is_var(term)) return false;
      if (!child.loops[l]->var.same(term)) continue;
      if (range_of(inner, child.loops).hi >= factor) return false;
      inner.terms.emplace_back(term, factor);
    }
  }
  return true;
}

}  // namespace bindings

TILEWRIGHT_INLINE bool uses_loops_from(const ir::expr& e, const child_block& child,
                                       std::size_t first) {
  if (ir::is_var(e)) return loop_index(child.loops, e) >= static_cast<int>(first);
  return support::any(e->args,
                      [&](const ir::expr& arg) { return uses_loops_from(arg, child, first); });
}

TILEWRIGHT_INLINE bool is_affine_binding(const child_block& child) {
  if (child.loops.empty()) return child.block().iters.empty() || bindings::affine(child, 0);
  return bindings::affine(child, 0);
}

TILEWRIGHT_INLINE bool is_affine_binding(const child_block& child, std::size_t first) {
  return bindings::affine(child, first);
}

TILEWRIGHT_INLINE bool runs_once(const child_block& child, std::size_t first) {
  return (bindings::uses_whole_loops(child, first) && is_affine_binding(child, first)) ||
         bindings::injective(child, first);
}

TILEWRIGHT_INLINE bool visits_domains(const child_block& child) {
  const bound_iters& iters = bind_iters(child);
  if (!iters.understood || uneven_loop(child) || !is_affine_binding(child)) return false;
  arith::analyzer known = knowing(child.loops);
  const std::vector<ir::iter_var>& vars = child.block().iters;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const arith::bounds whole = constant_range(vars[i].dom);
    if (!whole.bounded()) continue;
    const arith::bounds visited = known.const_bounds(child.realize->values[i]);
    if (!visited.bounded()) return false;  // variables of blocks around say which part
    if (!(meet(meet(visited, iters.clip[i]), whole) == whole)) return false;
  }
  // each digit of a number may see its whole domain where the number does not
  if (!bindings::has_remainder(child)) return true;
  const bindings::binding_list numbers = bindings::joined_digits(child);
  for (std::size_t i = 0; i < numbers.values.size(); ++i) {
    const arith::bounds whole = constant_range(numbers.iters[i].dom);
    if (whole.bounded() && !(meet(known.const_bounds(numbers.values[i]), whole) == whole))
      return false;
  }
  return true;
}

TILEWRIGHT_INLINE std::vector<std::size_t> mixed_loops(const child_block& child) {
  std::vector<std::size_t> out;
  const driven_loops driven(child);
  for (std::size_t l = 0; l < child.loops.size(); ++l)
    if (driven.spatial[l] && driven.other[l] && !ir::is_int(child.loops[l]->extent, 1))
      out.push_back(l);
  return out;
}

TILEWRIGHT_INLINE bool init_comes_first(const child_block& child) {
  const ir::var_map first = first_iterations(child.loops);
  const std::vector<ir::iter_var>& iters = child.block().iters;
  for (std::size_t i = 0; i < iters.size(); ++i)
    if (iters[i].kind == ir::iter_kind::reduce &&
        !arith::same_value(ir::substitute(child.realize->values[i], first), iters[i].dom.min))
      return false;
  if (mixed_loops(child).empty()) return true;
  for (const arith::linear& value : bind_iters(child).values)
    for (const auto& [term, factor] : value.terms)
      if (!ir::is_var(term) && !bindings::runs_upwards(term, child)) return false;
  return true;
}

TILEWRIGHT_INLINE bool is_trivial_binding(const child_block& child) {
  const std::vector<ir::expr>& values = child.realize->values;
  if (values.size() != child.loops.size()) return false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].same(child.loops[i]->var)) return false;
  return true;
}

TILEWRIGHT_INLINE bool reduces_affinely(const child_block& child) {
  using namespace bindings;
  const driven_loops driven(child);
  const auto reduces = std::find(driven.other.begin(), driven.other.end(), 1);
  const auto first = static_cast<std::size_t>(reduces - driven.other.begin());
  for (std::size_t l = first; l < child.loops.size(); ++l)
    if (!driven.any(l) && !ir::is_int(child.loops[l]->extent, 1)) return false;
  if (quick_affine(child, 0, true) == fast_answer::yes) return true;
  const bool inside = quick_affine(child, first, false) == fast_answer::yes;
  if (!(inside && first > 0) && !affine(child, first)) return false;
  if (!inside && !injective(child, first)) return false;
  const bound_iters& iters = bind_iters(child);
  const std::vector<ir::iter_var>& vars = child.block().iters;
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].kind == ir::iter_kind::spatial) continue;
    const linear_range range = relax(iters.values[i], child, {first, {}});
    if (!range.lo || !range.hi) return false;
    const arith::linear begin = arith::to_linear(vars[i].dom.min);
    const arith::linear end = arith::to_linear(vars[i].dom.min + vars[i].dom.extent);
    if (footprints::range_of_difference(*range.lo, begin, child.loops).hi > 0 ||
        !footprints::reaches(*range.hi, end, child.loops))
      return false;
  }
  return true;
}

TILEWRIGHT_INLINE unguarded::unguarded(const child_block& of)
    : open(ir::make_realize(of.realize->values, ir::boolean(true), of.realize->block)), child(of) {
  child.realize = ir::as_realize(open);
  child.bound = {};
}

TILEWRIGHT_INLINE bool reduces_without_guard(const child_block& child) {
  const ir::expr& guard = child.realize->predicate;
  return !ir::is_true(guard) && !ir::reads_memory(guard) &&
         reduces_affinely(unguarded(child).child);
}

}  // namespace tilewright::dependence
