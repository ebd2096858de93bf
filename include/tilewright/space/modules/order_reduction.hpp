// Module: reduction loops follow memory.
#pragma once

#include <string>

#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Orders the reduction loops of a block inside its spatial ones, those with the longest steps
/// through the operands outermost, so that the innermost one walks contiguously where one can.
/// Does nothing for blocks that are not bound one to one to constant loops.
/// ```
/// for i, j: s += A[i, j] (A column-major)   ->   for j, i: s += A[i, j]
/// ```
void order_reduction(schedule& s, const std::string& block);

}  // namespace tilewright::space
