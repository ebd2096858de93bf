// What copies of operands to shared memory say of how they are made: rules write these notes, and a post-processor
// or a pass follows them.
#pragma once

namespace tilewright::ir {

/// Annotation of a block: the threads around it fetch together, so many neighbouring elements each as a vector.
inline constexpr const char* cooperative_fetch_note = "meta_schedule.cooperative_fetch";

/// Annotation of such a block: rows begin that many bytes behind a multiple of twice as many.
inline constexpr const char* row_padding_note = "tilewright.row_padding";

/// Annotation of a block that copies jointly (ir/analysis/joint_copy.hpp): one thread asks the device's copy engine for
/// the whole box (pass/gpu/tensor/copy_tensors.hpp), where it has one.
inline constexpr const char* tensor_copy_note = "tilewright.tensor_copy";

/// Annotation of a pipelined loop whose operands the copy engine brings, and warp groups multiply: one group of warps more
/// asks for boxes, while the others multiply (pass/gpu/tensor/specialize_warps.hpp).
inline constexpr const char* producer_note = "tilewright.producer";

}  // namespace tilewright::ir
