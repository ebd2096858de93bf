// cache_inplace: a block that updates a buffer works on a copy of it.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Copies what a block reads and writes of a buffer into a cache before each instance, and back
/// after it.
///
/// ```
/// for i in range(128):                      for i in range(128):
///     with block("A"):                          for ax0 in range(1):
///         A[vi] = A[vi] + 1                         with block("A_local"):
///                                                       A_local[v0] = A[v0]
///                                      ->       with block("A"):
///                                                   A_local[vi] = A_local[vi] + 1
///                                               for ax0 in range(1):
///                                                   with block("A_local_1"):
///                                                       A[v0] = A_local[v0]
/// ```
/// It is meant for blocks that hand their buffer to an opaque intrinsic, which updates it in place.
/// The cache has the shape of the buffer.
///
/// Requires:
/// 1. the index names a read region of the block, which is not the root;
/// 2. the storage scope exists;
/// 3. the block writes the buffer too;
/// 4. what the block reads of it is all that it writes, or the rest has been written before; what
///    is copied is declared by the block around it;
/// 5. the block does not write what its guard, its values and the place of its regions are loaded from;
/// 6. below loops whose iterations run at once the block writes all that is copied back.
/// @returns the copy in, and the copy back
/// @throws schedule_error; nothing is changed then
new_blocks cache_inplace(const ir::function& f, std::uint64_t block, int read_buffer_index,
                         const std::string& storage_scope);

}  // namespace tilewright::primitive
