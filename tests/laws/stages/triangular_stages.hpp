// Stages of random programs whose inner loops, and with them the domains of their blocks, follow an
// outer loop.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws::stages {

/// A part of each row of a matrix that is written everywhere before.
void triangle(stage_builder& build, bool last);
/// Sums over a part of each row, or over all rows that have something in a column.
void prefix(stage_builder& build, bool last);
/// A block that writes a part of each row, and one that reads no more than that.
void triangles(stage_builder& build, bool last);

}  // namespace laws::stages
