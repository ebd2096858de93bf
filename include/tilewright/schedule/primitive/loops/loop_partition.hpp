// loop_partition: a loop becomes consecutive loops over parts of its range.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Cuts the range of a loop into parts that run one after the other, each in a block of its own,
/// all of them in one common block. The instances run in the old order. Loops and blocks inside the
/// parts are copies, with the number of the part in their names.
///
/// ```
/// for i in range(128):                      with block("B_i_common"):
///     with block("B"):                          with block("B_i0_partition"):
///         vi = axis.spatial(128, i)    ->           for i0 in range(112):
///         ...                                           with block("B_i0"): ...
///                                               with block("B_i1_partition"):
///                                                   for i1 in range(112, 128):
///                                                       with block("B_i1"): ...
/// ```
/// Variables that are bound to the loop alone get the part as their domain. Without an `infer`
/// factor, what the factors leave is the last part. The parts are serial.
///
/// Requires:
/// 1. at most one factor is `infer`;
/// 2. known factors are positive;
/// 3. the loop has no annotation and is not bound to threads;
/// 4. the range of the loop is constant;
/// 5. the sum of the known factors is below the extent;
/// 6. a block lies below the loop;
/// 7. the loop drives spatial variables only: a part of a reduction would be none.
/// @returns the new loops in program order
/// @throws schedule_error
new_loops loop_partition(const ir::function& f, const ir::var& loop,
                         const std::vector<std::optional<std::int64_t>>& factors,
                         bool preserve_unit_iters = true);

}  // namespace tilewright::primitive
