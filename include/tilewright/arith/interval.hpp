// Symbolic intervals: the values of an expression while some of its variables run.
#pragma once

#include <tilewright/arith/analyzer.hpp>

namespace tilewright::arith {

/// [lo, hi], both inclusive; a null side is unbounded.
struct interval {
  ir::expr lo;
  ir::expr hi;
};

/// Interval that covers `e` when the variables of `relaxed` run over their ranges; lo and hi use
/// only the other variables. Exact for sums in which each relaxed variable occurs once.
interval bound_over(const ir::expr& e, const loop_domains& relaxed, const analyzer& known);

}  // namespace tilewright::arith
