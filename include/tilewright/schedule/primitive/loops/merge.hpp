// merge: nests side by side become one nest.
#pragma once

#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Merges sibling nests of equal extents, from the statement that holds them down to the given
/// loops, into one nest that runs their bodies one after the other, in the order of the list. The
/// new loops are serial and named after those of the first nest with a suffix `_m`; the nest stands
/// where the last of the old ones stood.
///
/// ```
/// for i in range(128):                    for i_m in range(128):
///     for j in range(64): B                   for j in range(64): B
/// for i in range(128):           ->           for j in range(32): C
///     for j in range(32): C
/// ```
/// Requires:
/// 1. at least two loops are given, of different nests side by side in one statement list of one scope;
/// 2. the loops lie equally deep in their nests;
/// 3. from the list down, every loop but the given ones holds nothing but the next one;
/// 4. the loops start at 0, have no annotation and no thread axis;
/// 5. the extents are equal, level by level;
/// 6. no element is touched in an order that the merged nest turns round: of two accesses to it, at
///    least one a write, the one that came first comes first again; and no iteration of the merged nest reads what
///    others have written. (TVM does not look.)
/// @returns the innermost loop of the merged nest
/// @throws schedule_error
new_loop merge(const ir::function& f, const std::vector<ir::var>& loops);

}  // namespace tilewright::primitive
