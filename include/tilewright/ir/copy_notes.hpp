// What copies of operands to shared memory say of how they are made: rules write these notes, and a post-processor
// follows them.
#pragma once

namespace tilewright::ir {

/// Annotation of a block: the threads around it fetch together, so many neighbouring elements each as a vector.
inline constexpr const char* cooperative_fetch_note = "meta_schedule.cooperative_fetch";

/// Annotation of such a block: rows begin that many bytes behind a multiple of twice as many.
inline constexpr const char* row_padding_note = "tilewright.row_padding";

}  // namespace tilewright::ir
