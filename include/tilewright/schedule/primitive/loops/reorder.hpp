// reorder: permute loops of one nest.
#pragma once

#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Puts the given loops into the given order; loops of the nest that are not named keep their
/// places.
///
/// ```
/// for i, j, k in grid(4, 8, 16):    ->    for k, j, i in grid(16, 8, 4):    # reorder(k, i)
/// ```
/// Kinds and annotations travel with the loops. Up to one loop: nothing changes.
///
/// Requires:
/// 1. no loop is named twice;
/// 2. the loops lie in one chain: each is, through others, the only statement inside the one above;
/// 3. in the new order, the range of no loop uses the variable of a loop further inside;
/// 4. every block below has spatial and reduce iterators only;
/// 5. the binding of every block below is affine with respect to the loops from the outermost one
///    involved inwards, but for a guard that leaves out terms of a reduction;
/// 6. loops that drive both spatial and reduce iterators of a block with an init, as fusing makes them,
///    keep their order among themselves: that order decides which instance of a result runs first;
/// 7. where instances of a block with an init run more than once, as compute_at leaves them, no
///    loop passes one that drives the reduction;
/// 8. no block below reads what another block below writes in another iteration of one of
///    the loops, or writes the same elements there; no block reads what other instances of
///    it write; a block that uses the loops without a variable touches what it writes in
///    no other iteration; nothing below writes what bounds of the loops are loaded from.
/// @param loops the new order, outermost first
/// @throws schedule_error
ir::function reorder(const ir::function& f, const std::vector<ir::var>& loops);

}  // namespace tilewright::primitive
