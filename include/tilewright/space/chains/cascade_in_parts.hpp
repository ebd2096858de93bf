// Module: reductions that need each other's results, computed part by part of their axis and row group by
// row group, as attention is by blocks of keys.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Whether the function has a cascade of reductions one of which has results along more axes than the maximum, as
/// attention has.
bool has_wide_cascade(const schedule& s);

/// Whether the cascade has rows enough for register tiles, so that a group of them is likely faster than reductions
/// apart. Attention of 12 heads of 64: 128 keys 250 us instead of 273, 1,024 keys 16.2 ms instead of 20.4, one thread.
bool suits_cascade_in_parts(const schedule& s);

/// The lengths of parts that may be drawn for the function's cascade of reductions: some divisors of its axis.
std::vector<std::int64_t> cascade_part_lengths(const schedule& s);

/// Computes a cascade of reductions for a drawn number of rows at a time; as a structural choice along the whole axis at
/// once, or in parts of a drawn length (`work_on("NAME.parts")`). What a group of rows, or a part, needs alone is
/// computed with it.
/// ```
/// scores[i, j], peak[i], shares[i, j], total[i], Y[i, e] each in a nest   ->
/// for i_0: scores[.., j] (a register tile), peak, shares, total, Y (a register tile), Y / total
///   or
/// for i_0: for part: scores[.., ..], peak, shares, total, Y_part, all combined with what the parts before have
///          for i_1, e: Y / total
/// ```
/// Of all scores only those of a group of rows, or of a part of these, exist at a time.
/// @throws schedule_error where there is no such cascade, or a block cannot be moved
void cascade_in_parts(schedule& s, const context& where, chooser& choices);

}  // namespace tilewright::space
