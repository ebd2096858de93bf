// Loops of which no two iterations run the same instance of a block.
#pragma once

#include <cstdint>
#include <numeric>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/iter_map.hpp>
#include <tilewright/impl/dependence/binding/fused_binding.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence::bindings {

/// The loops with symbolic extents made long constants that all divisors in the values divide: a
/// multiple of a prime that is no scale of any program.
inline arith::loop_domains made_longer(const child_block& child, std::size_t first) {
  constexpr std::int64_t prime = 1048573, most = 1 << 10;  // products fit into 32 bits
  std::int64_t unit = 1;
  for (const ir::expr& value : child.realize->values)
    ir::for_each_expr(value, [&](const ir::expr& e) {
      const bool digit = e->op == ir::op::floordiv || e->op == ir::op::floormod;
      if (!digit || !ir::is_int(e->args[1]) || unit > most) return;
      const std::int64_t by = ir::as_int(e->args[1]);
      unit = by > 0 && by <= most ? std::lcm(unit, by) : most + 1;
    });
  arith::loop_domains out = domains(child.loops, first);
  for (auto& [v, r] : out)
    if (!ir::is_int(r.extent) && unit <= most)
      r.extent = ir::integer(r.extent.type(), unit * prime);
  return out;
}

/// What the loops from `first` on make of each variable: what stands still and loops of one iteration
/// hide digits from each other. Domains say no more than the values do.
inline binding_list moving_parts(const child_block& child, std::size_t first) {
  binding_list out = without_unit_loops(child);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const arith::linear sum = arith::to_linear(out.values[i]);
    arith::linear moving;
    moving.type = sum.type;
    for (const auto& term : sum.terms)
      if (uses_loops_from(term.first, child, first)) moving.terms.push_back(term);
    const ir::expr value = arith::from_linear(moving);
    ir::iter_var& iter = out.iters[i];
    iter.kind = ir::iter_kind::spatial;
    iter.dom.min = ir::integer(iter.dom.min.type(), 0);
    if (value->op == ir::op::floormod) iter.dom.extent = value->args[1];
    out.values[i] = value;
  }
  return out;
}

/// No two iterations of the loops from `first` on run the same instance. What holds without a
/// guard, or of longer loops, holds, and so does what holds of a number in place of its digits; a
/// guard that also uses outer loops cuts no constant part.
inline bool injective(const child_block& child, std::size_t first) {
  const arith::analyzer known = knowing(loops_before(child.loops, first));
  const arith::loop_domains loops = domains(child.loops, first);
  const ir::expr& guard = child.realize->predicate;
  const bool constant =
      support::all(loops, [](const auto& l) { return ir::is_int(l.second.extent); });
  const auto tells_apart = [&](const std::vector<ir::expr>& values) {
    const auto holds = [&](const arith::loop_domains& of, const ir::expr& where) {
      return arith::detect_iter_map(values, of, where, arith::iter_map_level::bijective, known)
          .has_value();
    };
    if (holds(loops, guard)) return true;
    if (!ir::is_true(guard) && holds(loops, ir::boolean(true))) return true;
    return !constant && holds(made_longer(child, first), ir::boolean(true));
  };
  if (tells_apart(child.realize->values)) return true;
  const binding_list plain = moving_parts(child, first);
  if (!has_remainder(plain.values)) return false;
  const binding_list whole = joined_digits(plain);
  return whole.values.size() < plain.values.size() && tells_apart(whole.values);
}

}  // namespace tilewright::dependence::bindings
