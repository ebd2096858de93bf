// What a function's root block says of the kernels that become of it on a GPU.
#pragma once

#include <cstdint>
#include <variant>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Annotation of root blocks: how many warps a thread of the schedule stands for, 1 or, of warp groups, 4. Their lanes
/// lie along threadIdx.x, which no loop of the schedule has then.
inline constexpr const char* warps_note = "warp_execution";
inline constexpr std::int64_t warps_of_group = 4;

/// What that annotation says; 0 where a thread is one of the device's.
inline std::int64_t warps_of_thread(const block_node& root) {
  const auto found = root.annotations.find(warps_note);
  if (found == root.annotations.end()) return 0;
  const auto* n = std::get_if<std::int64_t>(&found->second.value);
  return n && *n == warps_of_group ? warps_of_group : 1;
}

/// Annotation of root blocks: other than 0 asks for one launch of kernels that do not wait for each other (horizontal
/// fusion). Lowering keeps it as an attribute of the function.
inline constexpr const char* horizontal_note = "tilewright.horizontal_fuse";

}  // namespace tilewright::ir
