// rfactor: a reduction into partial results along one loop, and a reduction of these.
#pragma once

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Factorizes a reduction: `loop` becomes spatial in a block that computes one partial result per
/// iteration, and the original block reduces the partial results.
///
/// ```
/// for i, k0, k1 in grid(128, 4, 32):
///     with block("C"):
///         vi, vk = (i, k0 * 32 + k1)
///         with init(): C[vi] = 0
///         C[vi] = C[vi] + A[vi, vk]
/// ->  (at loop k1, factor_axis 1)
/// for i, k0, k1 in grid(128, 4, 32):
///     with block("C_rf"):
///         vk1, vi, vk0 = axis.remap("SSR", [k1, i, k0])
///         with init(): C_rf[vi, vk1] = 0
///         C_rf[vi, vk1] = C_rf[vi, vk1] + A[vi, vk0 * 32 + vk1]
/// for i, k1 in grid(128, 32):
///     with block("C"):
///         vk1, vi = axis.remap("RS", [k1, i])
///         with init(): C[vi] = 0
///         C[vi] = C[vi] + C_rf[vi, vk1]
/// ```
/// The partial results are in a new buffer `C.rf` with one more dimension at `factor_axis`; a
/// negative one counts from the end, -1 being behind the last dimension. Reduce variables that
/// depend on the loop are replaced by one per remaining loop, `v<loop>`. Where no reduce variable
/// remains, the new block stores without init. Annotations go to both blocks.
///
/// Requires:
/// 1. the loop is serial, starts at 0, holds exactly one block, and that is a reduction whose
///    inputs nobody overwrites in a common loop or later, and which depends on loops and lets
///    by its variables alone;
/// 2. the loop drives only reduce variables, or has extent 1; no loop drives both kinds;
/// 3. the block is the first one below its outermost loop; below the outermost loop that drives a
///    reduce variable it is the only one, and every longer loop there drives a variable;
/// 4. init and update are in normal form: one store each, or k lets of temporaries and then k
///    stores of exactly these; all stores have the same indices, of different buffers of the same
///    shape, and the init stores the same elements;
/// 5. identity and combination are those of a known reducer (schedule/reducer.hpp) or of the one
///    that the block's annotation `tilewright.reducer` names, and what is combined does not depend
///    on the result;
/// 6. `factor_axis` is in [-(rank + 1), rank];
/// 7. every partial result that is read has been initialised: a guard about loops of the reduction
///    holds in their first iteration, where the init runs;
/// 8. neither the extent of the loop nor the extents of loops that stay use variables of the loops of
///    the reduction, and the former is not loaded; the other loops of the reduction have an iteration;
/// 9. the result does not belong to threads that loops around the block start.
/// @returns the new block; `loop` and the loops that stay are around the original one
/// @throws schedule_error; nothing is changed then
new_block rfactor(const ir::function& f, const ir::var& loop, int factor_axis);

}  // namespace tilewright::primitive
