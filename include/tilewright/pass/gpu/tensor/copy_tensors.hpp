// Copies of boxes that the device's copy engine makes (TMA): one thread asks for them, and barriers in shared memory
// count the bytes that have landed.
//
//   attribute tensor_copy:                        attribute tensor_copy(S[0, 0], A[by * 128, k * 64], box 64 x 128):
//     for i, j in grid(128, 64):          ->        for i, j in grid(128, 64):
//       S[i, j] = A[by * 128 + i, k * 64 + j]         S[i, j] = A[by * 128 + i, k * 64 + j]
//
// What stands inside says what is copied, for whoever asks about memory (pass/gpu/place_barriers.hpp); the printer takes
// the head. Rows of more than 128 bytes become panels of rows of 128, one box each, and all accesses of the buffer
// follow. pass/gpu/pipeline_loops.hpp says when a copy is started and waited for.
//
// A copy from shared memory to a tensor becomes stores of boxes: all threads fence what they have stored and meet, and one of
// them asks and waits until the boxes have been read. What lies outside of the tensor is not stored.
//
// Outside of the tensor the engine writes zeros: conditions that hold within the tensor alone, and zeros stored where they
// do not hold, are left to it.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass {

/// Works on kernels (pass/gpu/unify_threads.hpp), before loops are pipelined.
/// @throws build_error for a copy that is no box of a parameter or of memory between kernels, or one that the engine
///         cannot take (target/tensor_box.hpp); it names both buffers
ir::function copy_tensors(const ir::function& f);

}  // namespace tilewright::pass
