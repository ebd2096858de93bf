// rolling_buffer: what a loop's windows have in common is kept instead of computed again.
#pragma once

#include <cstdint>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Makes a buffer circular along the outermost loop whose windows overlap: an iteration computes
/// only what the one before has not left there.
///
/// ```
/// for o in range(2):                              for o in range(2):
///     for ax0 in range(6):                            for ax0 in range(6):
///         with block("B"):                                with block("B"):
///             v = axis.spatial(10, o * 4 + ax0)               v = axis.opaque(10, o * 4 + ax0)
///             B[v] = A[v] * 2                      ->         where(o < 1 or 2 <= ax0)
///     for x in range(4):                                      B[v % 6] = A[v] * 2
///         with block("C"):                            for x in range(4):
///             v = axis.spatial(8, o * 4 + x)              with block("C"):
///             C[v] = B[v] + B[v + 2]                          v = axis.opaque(8, o * 4 + x)
///                                                             C[v] = B[v % 6] + B[(v + 2) % 6]
/// ```
/// Windows of other dimensions that overlap along loops inside are not computed again either; there
/// the buffer keeps its size. Iteration variables that the loop drives become opaque: their order
/// matters from now on, and further primitives refuse the blocks.
///
/// Requires:
/// 1. the block is complete or a reduction, variables counting as spatial that rolling another
///    buffer has made opaque; the scope allocates the buffer, no other block writes it, nobody takes
///    its address, and no part of it is matched;
/// 2. the block and all readers of the buffer share loops, and each
///    reader finds what it reads written in the same iteration;
/// 3. along one of these loops, serial and from 0, a dimension written at an iteration variable
///    alone has windows of constant length that overlap: the variable is loop * step + own loops,
///    from 0, step being less than the length of the window, and the loop moves no other dimension;
///    loop * n // m + own loops is one, too, of step n / m rounded up;
///    a guard of the block holds for an element in the iteration before if it does in this one, or
///    cuts all windows alike; no bounds of the loops around it follow other loops or data;
/// 4. only spatial variables depend on that loop;
/// 5. what is written at an element follows from its place: two iterations write the same there.
/// @throws schedule_error; nothing is changed then
ir::function rolling_buffer(const ir::function& f, std::uint64_t block, int write_buffer_index);

}  // namespace tilewright::primitive
