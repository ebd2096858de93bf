// read_at, write_at: one block that copies all that a loop's body touches of a buffer.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Lets the body of a loop read a buffer through a copy that one block makes in each iteration.
///
/// ```
/// for i0 in range(8):                       for i0 in range(8):
///     for i1, k in grid(16, 64):                with block("A_shared"):
///         with block("B"):                          v0 = axis.spatial(8, i0)
///             B[vi] += A[vi, vk]                    for ax0, ax1 in grid(16, 64):
///                                      ->               A_shared[v0 * 16 + ax0, ax1] = A[...]
///                                               for i1, k in grid(16, 64):
///                                                   with block("B"):
///                                                       B[vi] += A_shared[vi, vk]
/// ```
/// The block stands before the first statement of the body that reads the buffer, copies the box
/// that the body reads, and is annotated with `auto_copy`: its loops are no loops of the schedule.
/// The cache has the shape of the buffer. Threads that share it make the copy jointly
/// (ir/analysis/joint_copy.hpp).
///
/// Requires:
/// 1. the index names a read region of the block, which is not the root;
/// 2. the storage scope exists;
/// 3. the body reads the buffer, and nothing in it takes its address;
/// 4. nothing in the body writes the buffer once it has been read, and nothing there writes what the
///    box is loaded from;
/// 5. what the copy touches is all written before, and the block around declares it;
/// 6. the loops that the box depends on have constant
///    bounds; the box needs no loop or let around the scope.
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block read_at(const ir::function& f, const ir::var& loop, std::uint64_t block,
                  int read_buffer_index, const std::string& storage_scope);

/// The same for a buffer that the body writes: it works on the cache, and the block copies what was
/// written back after the last statement that writes.
///
/// Below threads that share the cache, the box is what all of them touch, and they copy it jointly.
///
/// Requires:
/// 1. the index names a write region of the block, which is not the root;
/// 2. the storage scope exists;
/// 3. the body writes the buffer, and nothing in it takes its address;
/// 4. nothing in the body reads the buffer after the last write, and nothing there writes what the
///    box is loaded from;
/// 5. what the copy touches is all written before, and what it reads the block around declares; what
///    the body reads through a cache that it writes itself is written before it is read; nobody else
///    changes sums that are unfinished;
/// 6. the loops that the box depends on have constant
///    bounds; the box needs no loop or let around the scope.
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block write_at(const ir::function& f, const ir::var& loop, std::uint64_t block,
                   int write_buffer_index, const std::string& storage_scope);

}  // namespace tilewright::primitive
