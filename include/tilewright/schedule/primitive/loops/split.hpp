// split: one loop becomes a nest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Replaces a loop by a nest whose variables are its mixed-radix digits, named `i_0, i_1, ...`.
///
/// ```
/// for i in range(128):                       for i_0, i_1 in grid(22, 6):
///     with block("C"):                           with block("C"):
///         vi = axis.spatial(128, i)    ->            vi = axis.spatial(128, i_0 * 6 + i_1)
///         ...                                        where(i_0 * 6 + i_1 < 128)
/// ```
/// Only where the sum cannot be proved to stay below the extent are the blocks below guarded, and
/// only then; with `disable_predication` never. Bounds of loops and guards load nothing beyond it.
/// Without `preserve_unit_iters` the variables of loops of extent 1 are replaced by 0 in the
/// bindings. An `infer` factor is ceildiv(extent, the others).
///
/// Requires:
/// 1. at least one factor is given, and at most one of them is `infer`;
/// 2. known factors are positive, and their product fits the type of the variable;
/// 3. the loop has no annotation and is not bound to threads; parallel, vectorized and unrolled
///    loops become serial;
/// 4. the loop starts at 0;
/// 5. the product of the factors is provably at least the extent;
/// 6. nothing below the loop writes what its extent is loaded from.
/// @param factors outermost first; nothing for `infer`
/// @returns the new loops, outermost first; the old variable is gone
/// @throws schedule_error
new_loops split(const ir::function& f, const ir::var& loop,
                const std::vector<std::optional<std::int64_t>>& factors,
                bool preserve_unit_iters = true, bool disable_predication = false);

}  // namespace tilewright::primitive
