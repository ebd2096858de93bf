// cache_index: index arithmetic that a block repeats is computed once, ahead of it.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Computes the pure expressions of a block's stores into buffers before the block, which then
/// loads them.
///
/// ```
/// for i, j in grid(80, 80):                 for ax0 in range(80):
///     with block("B"):                          with block("index_0"):
///         B[vi, vj] = A[vj // 2 + vi, 0]            index_var_0[v0] = v0 // 2
///                                       ->  for i, j in grid(80, 80):
///                                               with block("B"):
///                                                   B[vi, vj] = A[index_var_0[vj] + vi, 0]
/// ```
/// (with `vi` no part of a repeated expression). What is computed are the largest expressions of an
/// operator at least that neither load nor call what has effects; one that occurs less than
/// `cse_thresh` times in a store counts for its parts instead. Expressions that simplify to the same
/// are the same. Each gets a block `index_<n>` over the loops that drive its variables, larger ones
/// first, at the place in the scope where the nest of the block stands. Without such an expression
/// nothing changes.
///
/// Requires:
/// 1. the block is not the root;
/// 2. the storage scope exists, and is global below loops that are bound to threads;
/// 3. `cse_thresh` is not negative;
/// 4. only loops stand between the scope and the block, and those that drive the variables of such
///    an expression have bounds that use no other loop and give the variables no negative value;
///    nobody in the nest writes what these bounds and values are loaded from.
/// @returns the blocks that compute, in program order
/// @throws schedule_error; nothing is changed then
new_blocks cache_index(const ir::function& f, std::uint64_t block, const std::string& storage_scope,
                       int cse_thresh = 0);

}  // namespace tilewright::primitive
