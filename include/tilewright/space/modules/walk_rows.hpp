// Module: sums over rows that lie far apart, row by row.
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// A sum over rows that lie a page or more apart, as O[i] = sum_v S[v, i] * G[v], is taken row by row; the results of
/// a tile stay in the first-level cache, and those of a few rows at once in registers:
/// ```
/// i, v  ->  i0 (parallel) | v0 | i1 | v1 (unrolled) | i2 (vectorized)
/// ```
/// A structural choice beside `register_tiling`, the first one where tiles divide the rows. Nothing else may read the
/// sum, but for a block that finishes each result of sums whose operands serve one, as the division of a mean, and is computed
/// below `i0`; and operands may serve up to four rows of results, which are computed together:
/// ```
/// i, j, k  ->  j0 (parallel) | k0 | j1 | i (unrolled) | k1 (unrolled) | j2 (vectorized)
/// ```
/// @returns whether it was taken; otherwise nothing has changed
bool walk_rows(schedule& s, const std::string& block, const context& where, chooser& choices);

}  // namespace tilewright::space
