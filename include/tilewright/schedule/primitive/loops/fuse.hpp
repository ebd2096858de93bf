// fuse: a nest becomes one loop.
#pragma once

#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Replaces directly nested loops by one loop over their product, named `i_j_fused`.
///
/// ```
/// for i, j in grid(4, 8):                for i_j_fused in range(32):
///     with block("C"):                       with block("C"):
///         vi, vj = (i, j)          ->            vi, vj = (i_j_fused // 8, i_j_fused % 8)
/// ```
/// One loop becomes a serial one, `i_fused`. Without `preserve_unit_iters` loops of extent 1 do not
/// occur in the new bindings.
///
/// Requires:
/// 1. at least one loop is given, and none twice;
/// 2. each loop after the first is the whole body of the one before;
/// 3. every loop starts at 0;
/// 4. no loop has an annotation or is bound to threads; other kinds become serial;
/// 5. the extent of no loop uses the variable of another one in the list, and nothing below writes
///    what it is loaded from;
/// 6. the product of constant extents fits the type of the widest variable.
/// @param loops outermost first
/// @returns the new loop; the old variables are gone
/// @throws schedule_error
new_loop fuse(const ir::function& f, const std::vector<ir::var>& loops,
              bool preserve_unit_iters = true);

}  // namespace tilewright::primitive
