// transform_block_layout: other iteration variables for a block.
#pragma once

#include <cstdint>

#include <tilewright/ir/index_map.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Rewrites the iteration variables of a block by a bijective map, and its loops with them. The new
/// loops are serial and named ax0, ax1, ...; the body sees the old variables through the inverse.
/// The new ones have the type of the first old one; one for `T.int64(0)` has that of the constant.
///
/// ```
/// for i, j in grid(16, 16):                   for ax0 in range(256):
///     with block("B"):                            with block("B"):
///         vi, vj = (i, j)                ->           v0 = ax0
///         B[vi, vj] = A[vi, vj] * 2                   B[v0 // 16, v0 % 16] = A[...] * 2
///                                             # lambda i, j: (i * 16 + j,)
/// ```
/// Requires:
/// 1. the map takes as many indices as the block has iteration variables;
/// 2. the variables are bound to the loops around the block, each to one, without a guard, and stand
///    for them in the body;
/// 3. each loop holds only the next one, and the innermost one the block; the loops start at
///    0, as do the domains, and run over all of the latter, which are the same throughout;
/// 4. each new variable is made of variables of one kind; variables of extent 1 count as spatial;
/// 5. the map is a bijection from the domains to a box from 0;
/// 6. every variable is spatial or reduce, and no instance reads or writes what another one writes.
/// @throws schedule_error
ir::function transform_block_layout(const ir::function& f, std::uint64_t block,
                                    const ir::index_map& map);

}  // namespace tilewright::primitive
