// cache_read and cache_write: stage a buffer through a copy in another scope.
//
// This only adds the copy; compute_at or reverse_compute_at then moves it to where a tile of it is
// wanted, which makes it a packed panel or a local accumulator tile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Lets blocks read a buffer through a copy in another storage scope.
///
/// ```
/// for i, j, k in grid(128, 128, 128):       for ax0, ax1 in grid(128, 128):
///     with block("C"):                          with block("A_local"):
///         C[vi, vj] += A[vi, vk] * ...              v0, v1 = (ax0, ax1)
///                                       ->          A_local[v0, v1] = A[v0, v1]
///                                           for i, j, k in grid(128, 128, 128):
///                                               with block("C"):
///                                                   C[vi, vj] += A_local[vi, vk] * ...
/// ```
/// The copy block is named `A_<scope>`, made unique. It stands before the first reader, in the
/// loops that it shares with the block that writes the buffer, or first when none does. It
/// copies the box that this block writes; of what the function is given, the whole buffer, and in a
/// scope inside, where readers read more than the block writes, or where a guard inside a reader says
/// which part is read, the box that the redirected readers touch. A box smaller than the buffer makes
/// a smaller cache. Where the writer shares loops with the readers the copy stands inside of them and
/// the cache keeps the full shape.
///
/// Requires:
/// 1. `read_index` names a read region of the block, which is not the root;
/// 2. the storage scope exists: global, local, shared, shared.dyn, warp, or a tensor-core scope;
/// 3. at most one block of the scope writes the buffer, and no redirected one does;
/// 4. what the redirected readers read is written before them, by that block
///    or before the scope starts, and so is all that the copy reads, which
///    the block around declares; the copy needs no loop around the scope;
/// 5. each of `consumers` is a block of the scope, and one of
///    them reads the buffer; consumers that do not are left out.
/// @param consumers ids of the blocks that read the copy; all readers but the writer when empty
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block cache_read(const ir::function& f, std::uint64_t block, int read_index,
                     const std::string& scope, const std::vector<std::uint64_t>& consumers = {});

/// Lets a block write a buffer through a copy in another storage scope.
///
/// ```
/// for i, j, k in grid(128, 128, 128):       for i, j, k in grid(128, 128, 128):
///     with block("C"):                          with block("C"):
///         C[vi, vj] += A[vi, vk] * ...  ->          C_local[vi, vj] += A[vi, vk] * ...
///                                           for ax0, ax1 in grid(128, 128):
///                                               with block("C_local"):
///                                                   C[v0, v1] = C_local[v0, v1]
/// ```
/// Init and accumulation are redirected with the block, whose name stays. The copy stands after the
/// block, inside the loops that it shares with readers of the buffer, otherwise outside of all its
/// loops.
///
/// Requires:
/// 1. `write_index` names a write region of the block, which is not the root;
/// 2. the storage scope exists;
/// 3. the block is the only one in the scope that writes the buffer, and does not read it, except
///    that blocks inside of it may read what others inside of it have written;
/// 4. nobody who comes before the block in a common loop reads the buffer;
/// 5. the elements that the block writes form a box, of which loops of the scope say how large, and
///    it has finished them where the copy stands; the copy needs no loop around the scope;
/// 6. each of `consumers` is a later block of the scope that reads the buffer,
///    and reads nothing of it that the block does not write; where the body reads
///    the buffer, guard, values of variables and what stands around it do not.
/// @param consumers ids of the blocks that read the cache itself instead of the buffer
/// @returns the copy block
/// @throws schedule_error; nothing is changed then
new_block cache_write(const ir::function& f, std::uint64_t block, int write_index,
                      const std::string& scope, const std::vector<std::uint64_t>& consumers = {});

}  // namespace tilewright::primitive
