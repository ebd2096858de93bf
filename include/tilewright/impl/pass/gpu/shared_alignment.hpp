// Where buffers in shared memory begin.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>

namespace tilewright::pass::detail {

/// Of a buffer in shared memory, and of each of its versions, bytes: where rows of 128 bytes begin, and the pattern that
/// they are swizzled in.
inline std::int64_t shared_alignment(const ir::buffer_node& b) {
  constexpr std::int64_t row = 128;
  if (b.scope == groups::panels_scope) return groups::panel_alignment;
  return b.scope == tensor_copies::boxed_scope ? std::max<std::int64_t>(b.alignment, row) : row;
}

}  // namespace tilewright::pass::detail
