// Module: compute a chain of blocks row by row (a fixed form of random compute location).
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Moves the producers of an output block below the deepest of its loops, the innermost one left
/// out, at which all of them are legal; where there is no such loop, or the choice says so, they
/// stay.
/// ```
/// peak[i], e[i, j], total[i], Y[i, j] each in a nest   ->   for i: peak, e[.., j], total, Y
/// ```
void fuse_rows(schedule& s, const std::string& output, chooser& choices);

}  // namespace tilewright::space
