// Module: loops follow memory.
#pragma once

#include <string>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Orders the loops of a block that no other one feeds, or the reduction loops of any, so that the
/// innermost one walks contiguously where one can: loops with long steps through the output, or in
/// reductions through the operands, go outermost. Does nothing for blocks that are not bound one to
/// one to constant loops.
/// ```
/// for i, j: s += A[i, j]         (column-major)   ->   for j, i: s += A[i, j]
/// for i, j: C[i, j] = A[i, j]    (column-major)   ->   for j, i: C[i, j] = A[i, j]
/// ```
void order_loops(schedule& s, const std::string& block);

}  // namespace tilewright::space
