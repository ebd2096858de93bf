// decompose_padding: filling the border and copying the inside as two blocks.
#pragma once

#include <cstdint>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Splits a block that stores a value or a constant, as a condition says, into one that stores the
/// constant everywhere, before `loop`, and one that stores the value where the condition holds.
///
/// ```
/// for i in range(140):                              for i in range(140):
///     with block("B"):                                  with block("B_pad_const"):
///         vi = axis.spatial(140, i)                         vi = axis.spatial(140, i)
///         B[vi] = if_then_else(                             B[vi] = 0
///             6 <= vi and vi < 134, A[vi - 6], 0)  ->   for i in range(128):
///                                                           with block("B"):
///                                                               vi = axis.spatial(128, i)
///                                                               B[vi + 6] = A[vi]
/// ```
/// The constant is stored by the loops from `loop` inwards, which are serial unless they are
/// threads. Loops that are bound to a variable as they stand, up to the outermost one below `loop`
/// that holds nothing else, are cut to where the condition holds; what remains of the condition
/// becomes a guard.
///
/// Requires:
/// 1. the loop is around the block, in its scope, and no if, while or let stands between the two;
/// 2. the block is complete;
/// 3. the block's body is one store of `if_then_else(condition, value, constant)`,
///    the value without side effects, and the block has no buffers of its own;
/// 4. the condition does not always hold;
/// 5. each part of the condition bounds one variable of the block, by a number from below or above;
/// 6. different instances store different elements;
/// 7. no earlier block uses what the block stores, and none below the loop
///    writes what guards, bounds and values around the block are loaded from;
/// 8. the buffer does not belong to threads that the loop or one below it starts.
/// @returns the block that stores the constant; the old id stays with the other one
/// @throws schedule_error; nothing is changed then
new_block decompose_padding(const ir::function& f, std::uint64_t block, const ir::var& loop);

/// Whether `decompose_padding` would not refuse.
bool can_decompose_padding(const ir::function& f, std::uint64_t block, const ir::var& loop);

}  // namespace tilewright::primitive
