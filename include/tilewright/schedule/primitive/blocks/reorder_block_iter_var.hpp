// reorder_block_iter_var: permute the iteration variables of a block.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Puts the iteration variables of a block, with their bindings, into another order. Loops and body
/// stay: only what reads the variables by position (tensorize, layouts of blocks) sees it.
///
/// ```
/// with block("C"): vi, vj, vk = axis.remap("SSR", [i, j, k])
/// ->  (new_order [2, 0, 1])
/// with block("C"): vk, vi, vj = axis.remap("RSS", [k, i, j])
/// ```
/// Requires: 1. `new_order` is a permutation of 0 ... n-1 for n iteration variables.
/// @param new_order at each place, the number of the variable that comes there
/// @throws schedule_error
ir::function reorder_block_iter_var(const ir::function& f, std::uint64_t block,
                                    const std::vector<std::int64_t>& new_order);

}  // namespace tilewright::primitive
