// Module: reductions that need each other's results, computed part by part of their axis and row group by
// row group, as attention is by blocks of keys.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// The lengths of parts that may be drawn for the function's cascade of reductions; none where it has no cascade
/// with results along more axes than its maximum, or the axis has no such divisor.
std::vector<std::int64_t> cascade_part_lengths(const schedule& s);

/// Works on the form of the algorithm whose cascade runs in parts (`work_on("NAME.parts")`) of a drawn length, a drawn
/// number of rows at a time; what a part needs alone is computed with it.
/// ```
/// scores[i, j], peak[i], shares[i, j], total[i], Y[i, e] each in a nest   ->
/// for i_0: for part: scores[.., ..] (a register tile), peak, shares, total, Y_part (a register tile), all combined with
///                    what the parts before have
///          for i_1, e: Y / total
/// ```
/// Of all scores only those of a part and a group of rows exist at a time.
/// @throws schedule_error where a block cannot be moved
void cascade_in_parts(schedule& s, const context& where, chooser& choices);

}  // namespace tilewright::space
