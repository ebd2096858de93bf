// reindex, reindex_cache_read, reindex_cache_write: copies whose layout follows the iteration
// variables of a block.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/operand.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Lets a block access a buffer through a copy whose dimensions are the iteration variables that
/// occur in the access.
///
/// ```
/// for n, h, r in grid(1, 30, 3):            for ax0, ax1 in grid(30, 3):
///     with block("C"):                          with block("A_reindex_reindex"):
///         C[vh] += A[vh + vr]          ->           A_reindex[v0, v1] = A[v0 + v1]
///                                           for n, h, r in grid(1, 30, 3):
///                                               with block("C"):
///                                                   C[vh] += A_reindex[vh, vr]
/// ```
/// The copy of a buffer that is read stands directly before the nest of the block, that of one that
/// is written after it.
///
/// Requires:
/// 1. the block holds no other blocks and is not the root;
/// 2. the selector names a buffer that the block reads or writes;
/// 3. the block accesses the buffer by loads and stores alone, all with the same
///    indices, which are made of its iteration variables; the variables start at
///    0, and no domain depends on a loop or on what blocks of the scope write;
/// 4. no other block that shares a loop with the block writes the buffer, or, for a write, reads it,
///    and none there writes what the indices are read from; no loop there starts its threads;
/// 5. for a read: the block does not write the buffer, all of it that others of the scope write is
///    written before, and every element that the copy touches exists, the loops being a box, and is
///    one that the block around declares;
/// 6. for a write: the block does not read the buffer (init aside), and it runs for all values of
///    its iteration variables; different instances write different elements.
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block reindex(const ir::function& f, std::uint64_t block, const buffer_selector& buffer);

/// cache_read with a layout of its own: `index_map` says where in the cache the element lies that
/// an instance of the block reads.
///
/// ```
/// for i, j in grid(128, 128):               for i, j in grid(128, 128):
///     with block("B"):                          with block("A_shared"):
///         B[vi, vj] = A[vj, vi]        ->           A_shared[vi // 16, vj, vi % 16] = A[vj, vi]
///                                           for i, j in grid(128, 128):
///                                               with block("B"):
///                                                   B[vi, vj] = A_shared[vi // 16, vj, vi % 16]
/// ```
/// with `lambda i, j: (i // 16, j, i % 16)`. Loops, bindings and guard of the copy are those of the
/// block, as far as the element depends on them.
///
/// Requires:
/// 1. the index names a read region of the block, which is not the root;
/// 2. the storage scope exists;
/// 3. at most one block of the scope writes the buffer, and that block does not read it (init aside);
/// 4. what the block reads is written before it; no loop between the two starts the threads of the
///    buffer;
/// 5. the region is a single point, the only one of the buffer that an instance
///    touches, and its indices are made of iteration variables; what the indices are
///    read from is written before the copy, and not between the copy and the block; the
///    same holds for what bounds, guards and values around the block are loaded from;
/// 6. the map takes as many indices as the block has iteration variables, and uses those that occur
///    in the region and no others;
/// 7. the map is one to one, on domains that start at 0 and depend on no loop and on
///    nothing that blocks of the scope write;
/// 8. the guard of the block does not mix loops that the element depends on with others, and the copy
///    reads no element that the block does not read; no condition around the block is all that
///    keeps it in its domain, and no let there says where it runs; nor do the other loops and their
///    guard leave an element out.
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block reindex_cache_read(const ir::function& f, std::uint64_t block, int read_buffer_index,
                             const std::string& storage_scope, const ir::index_map& index_map);

/// cache_write with a layout of its own: `index_map` says where in the cache the element lies that
/// an instance of the block writes.
///
/// ```
/// for i, j in grid(128, 128):               for i, j in grid(128, 128):
///     with block("B"):                          with block("B"):
///         B[vi, vj] = A[vj, vi]        ->           B_shared[vi // 16, vj, vi % 16] = A[vj, vi]
///                                           for i, j in grid(128, 128):
///                                               with block("B_shared"):
///                                                   B[vi, vj] = B_shared[vi // 16, vj, vi % 16]
/// ```
/// with the map above. The copy back stands before the first reader of the block, and runs over loops
/// like those of the block, without the ones that only reduce.
///
/// Requires:
/// 1. the index names a write region of the block, which is not the root;
/// 2. the storage scope exists;
/// 3. no other block of the scope writes the buffer, and the block does not read it (init aside);
/// 4. nobody who comes before the block in a common loop reads the buffer, and its result is finished
///    where the copy stands; no loop between the two starts the threads of the buffer;
/// 5. the region is a single point, the only one of the buffer that an instance
///    touches, and its indices are made of iteration variables; what the indices are
///    read from is written before the copy, and not between the copy and the block; the
///    same holds for what bounds, guards and values around the block are loaded from;
/// 6. the map takes as many indices as the block has iteration variables, and uses those that occur
///    in the region and no others;
/// 7. the map is one to one, on domains that start at 0 and depend on no loop and on
///    nothing that blocks of the scope write;
/// 8. the guard of the block does not mix loops that the element depends on with others, and the
///    block leaves no element unwritten; no condition around the block is all that
///    keeps it in its domain, and no let there says where it runs; nor do the other loops and their
///    guard leave an element out.
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block reindex_cache_write(const ir::function& f, std::uint64_t block, int write_buffer_index,
                              const std::string& storage_scope, const ir::index_map& index_map);

}  // namespace tilewright::primitive
