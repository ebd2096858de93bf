// Whether an init that drops loops still runs exactly where it ran.
#pragma once

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// Whether a conjunct of the guard that is about the dropped loops lets their first iteration run, in which
/// the reduction is initialised. Of a symbolic extent that is believed.
inline bool holds_first(const ir::expr& conjunct, const child_block& c,
                        const ir::var_set& dropped) {
  ir::var_map first;
  for (const ir::loop_node* l : c.loops)
    if (dropped.count(l->var)) first.emplace(l->var, l->min);
  const ir::expr there = ir::substitute(conjunct, first);
  if (arith::analyzer().prove(there)) return true;
  const auto symbolic = ir::free_vars(there);
  return !symbolic.empty() && !ir::reads_memory(there) &&
         support::none(symbolic, [&](const ir::var& v) { return loop_index(c.loops, v) >= 0; });
}

/// Whether a conjunct of the guard lets the first iteration of the dropped loops run in every iteration of the others.
inline bool holds_always_first(const ir::expr& conjunct, const child_block& c,
                               const ir::var_set& dropped) {
  ir::var_map first;
  for (const ir::loop_node* l : c.loops)
    if (dropped.count(l->var)) first.emplace(l->var, l->min);
  return knowing(c.loops).prove(ir::substitute(conjunct, first));
}

}  // namespace tilewright::primitive::detail
