// sparse_reorder: the order in which a sparse iteration walks its axes.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Puts the axes of a sparse iteration into another order, before anything else is scheduled, and lowers the
/// program again. The block that comes back is the one of the iteration, which has the old one's name.
/// ```
/// iteration C [rows: S, columns: R, features: S]   ->  (new_order [2, 0, 1])
/// iteration C [features: S, rows: S, columns: R]
/// ```
/// Requires: 1. the function carries its sparse iterations, and is what lowering has made of them; 2. the
/// block is the innermost one of an iteration; 3. `new_order` is a permutation of 0 ... n-1 for n axes of the
/// iteration; 4. each axis stands behind its parent, or the one that it is attached to, and axes that are
/// fused stay side by side; 5. where axes that reduce change places among themselves, the body is one store
/// that combines what it finds at its place with one value by +, *, max or min; 6. no axis that reduces stands
/// before the parent of one of variable extent, where the iteration initializes its result.
/// @param new_order at each place, the number of the axis that comes there
/// @throws schedule_error
new_block sparse_reorder(const ir::function& f, std::uint64_t block,
                         const std::vector<std::int64_t>& new_order);

}  // namespace tilewright::primitive
