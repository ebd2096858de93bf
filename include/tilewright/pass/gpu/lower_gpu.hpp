// From a scheduled function to the form that the CUDA back end takes.
//
// The lowered form. The body is a sequence of kernels inside allocations of scope "global", which are
// memory of the device that kernels share. A code generator may rely on these:
//  1. A kernel is a nest of loops bound to blockIdx.z, .y, .x, allocations of scope "shared", loops
//     bound to threadIdx.z, .y, .x, and the body; each axis at most once, from 0 on, extents literal.
//     No other loop is bound.
//  2. The body holds loop, seq, store, if_else, let, evaluate and allocate nodes, no blocks. Loops are
//     serial, unrolled or vectorized.
//  3. Shared buffers have literal shapes and an `elem_offset` in the block's shared memory, a multiple
//     of 128 bytes; those of one block that live at different times may overlap.
//  4. Allocations in the body are a thread's own: scope "local", shapes literal.
//  5. Barriers, `T.tvm_storage_sync("shared")`, stand where all threads of the block come by.
//  6. Contents of a buffer are undefined at its allocation.
//  7. Calls of `tw_mma`, `tw_load_matrix`, `tw_load_transposed` (pass/gpu/spread_fragments.hpp) are what
//     a warp does together; copies in the background are started, committed and waited for as
//     impl/pass/gpu/async_copy.hpp says. Their arguments are the first elements of the pieces that the
//     thread touches, and the length of a copy (impl/pass/gpu/pieces.hpp).
//     Where warp groups multiply, so are `tw_multiply_group` and the fences and waits around it, as
//     impl/pass/gpu/groups/group_product.hpp says.
//     Boxes that the device's copy engine brings are attributes of what they copy, as impl/pass/gpu/tensor/tensor_copy.hpp
//     says; what counts their bytes is shared memory that only calls for it touch.
//  8. A statement with the attribute "tilewright.atomic" is one addition to memory (ir/analysis/atomic_update.hpp), which
//     any threads may make at once.
// Function attribute: "tilewright.lowered" = 1.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::target {
struct gpu;
}

namespace tilewright::pass {

/// The scheduled function `f` as kernels for `target`; the meaning is that of ir::interpret up to
/// reassociation across the iterations of declared reductions.
/// @throws build_error for what cannot be lowered: an allocation or a grid without constant bound, too
///         much shared memory, a barrier that not all threads would reach
ir::function lower(const ir::function& f, const target::gpu& target);

}  // namespace tilewright::pass
