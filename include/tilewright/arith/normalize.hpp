// One form for programs that differ in how their index arithmetic is written.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::arith {

/// The function with its index arithmetic in canonical form, so that `ir::equal` of two normal
/// forms compares what they mean there and not how it was written.
///
/// ```
/// for i_0, i_1, u in grid(6, 24, 1):                     for i_0, i_1, u in grid(6, 24, 1):
///     vi = axis.spatial(128, i_1 + u + i_0 * 24)   ->        vi = axis.spatial(128, i_0 * 24 +
///     i_1) where((i_0 * 8 + i_1 // 3) * 3 < 126 and                where(i_0 * 24 + i_1 < 126)
///           i_0 < 6)
/// ```
/// Sums are flat and sorted, quotients and remainders reduced under the ranges of the loops and the
/// predicate; variables with one value are replaced by it; comparisons have the form sum <
/// constant; conjuncts that always hold are dropped and the others sorted. The regions of a block
/// are sorted, and whole in dimensions that data indexes or whose length varies. The attribute
/// `global_symbol`, which is a name, is dropped. What the blocks of a partitioned loop declare (see
/// loop_partition) is left out: it follows from their bodies, and TVM declares nothing there.
/// Loops, blocks, buffers, annotations and float arithmetic stay as they are.
ir::function normalize(const ir::function& f);

}  // namespace tilewright::arith
