// set_scope, unsafe_set_dtype, storage_align: where and how an allocated buffer is kept.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Moves a buffer that the block writes to another storage scope, under the name `B_<scope>`.
///
/// ```
/// B = alloc_buffer((128, 128))              B_shared = alloc_buffer((128, 128), scope="shared")
/// with block("B"):                     ->   with block("B"):
///     B[vi, vj] = A[vi, vj] * 2                 B_shared[vi, vj] = A[vi, vj] * 2
/// ```
/// Buffers matched to parts of it follow. Nothing changes when it is there already.
///
/// Requires:
/// 1. the storage scope exists: global, local, shared, shared.dyn, warp, or a tensor-core scope;
/// 2. `buffer_index` names a write region of the block;
/// 3. a block allocates the buffer;
/// 4. threads that share the buffer through its old scope still share it through the new one;
/// 5. threads that have the buffer each for itself, but share the new scope, write different
///    elements;
/// 6. where a block adds to the buffer atomically, the scope is global.
/// @throws schedule_error; nothing is changed then
ir::function set_scope(const ir::function& f, std::uint64_t block, int buffer_index,
                       const std::string& storage_scope);

/// Gives a buffer that the block writes another element type; stores and loads convert.
///
/// ```
/// B = alloc_buffer((128,), "float32")       B = alloc_buffer((128,), "float16")
/// B[vi] = A[vi] * 2                    ->   B[vi] = cast("float16", A[vi] * 2)
/// C[vj] = B[vj] + 1                         C[vj] = cast("float32", B[vj]) + 1
/// ```
/// This changes results: what does not fit the new type is rounded, and wraps for integers.
///
/// Requires:
/// 1. `buffer_index` names a write region of the block;
/// 2. the type exists, is no pointer, and has as many lanes as the old one;
/// 3. a block allocates the buffer;
/// 4. nobody takes the address of the buffer: it would be read with the old type.
/// @throws schedule_error; nothing is changed then
ir::function unsafe_set_dtype(const ir::function& f, std::uint64_t block, int buffer_index,
                              const std::string& type);

/// Asks for strides of an allocated buffer: `stride[axis] = k * factor + offset` for some k.
///
/// ```
/// with block("A_shared"):                   with block("A_shared"):
///     ...                              ->       block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
/// ```
/// The annotation is a wish to whoever lays the buffer out: it changes no result. The lowering
/// follows it with the smallest strides after it has cut the buffer to what is touched, and then
/// pads no rows on its own. Another call for the same buffer and axis replaces the wish.
///
/// Requires:
/// 1. `buffer_index` names a write region of the block;
/// 2. `factor` is positive;
/// 3. `axis` is one of the buffer's, counted from the end when negative;
/// 4. a block allocates the buffer;
/// 5. an annotation `buffer_dim_align` that is there already is a list of four integers each.
/// @throws schedule_error; nothing is changed then
ir::function storage_align(const ir::function& f, std::uint64_t block, int buffer_index, int axis,
                           int factor, int offset);

}  // namespace tilewright::primitive
