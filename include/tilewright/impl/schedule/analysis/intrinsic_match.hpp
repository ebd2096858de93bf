// Comparing a block with the description of a tensor intrinsic.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace tilewright::primitive {

/// What stands for a parameter of the description in the program.
struct matched_buffer {
  ir::buffer buffer;
  std::vector<ir::expr> base;  // [rank of `buffer`] where the region starts
};

/// The first place where block and description differ, as "..., expected X, found Y"; empty when
/// the block computes what the description says.
///
/// Compared node by node, without commuting or reassociating anything: the regions of the block and
/// of the description's root block, in order, with equal extents in the trailing dimensions and
/// extent 1 in those that only the program has; then statements, loops with bounds, kinds and
/// annotations, inner blocks with variables, bindings and guards, and expressions, where indices
/// count relative to where the region starts. Types and scopes of buffers must agree; index types
/// and annotations of blocks may differ, but for `auto_copy`.
std::string match_tensor(const ir::block_node& block, const ir::function& description,
                         std::unordered_map<ir::buffer, matched_buffer>& buffers);

}  // namespace tilewright::primitive
