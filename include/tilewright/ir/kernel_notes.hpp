// What a function's root block says of the kernels that become of it on a GPU.
#pragma once

namespace tilewright::ir {

/// Annotation of root blocks: other than 0 asks for one launch of kernels that do not wait for each other (horizontal
/// fusion). Lowering keeps it as an attribute of the function.
inline constexpr const char* horizontal_note = "tilewright.horizontal_fuse";

}  // namespace tilewright::ir
