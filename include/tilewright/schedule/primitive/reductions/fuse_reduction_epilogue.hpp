// fuse_reduction_epilogue: what follows a reduction element by element becomes its starting value.
#pragma once

#include <cstdint>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Removes an element-wise block behind a reduction by starting the reduction from what the block
/// would have combined with the result.
///
/// ```
/// for i, j, k in grid(16, 16, 64):                for i, j, k in grid(16, 16, 64):
///     with block("C"):                                with block("C"):
///         with init(): C[vi, vj] = 0                      with init(): D[vi, vj] = bias[vj]
///         C[vi, vj] += A[vi, vk] * B[vk, vj]   ->         D[vi, vj] += A[vi, vk] * B[vk, vj]
/// for i, j in grid(16, 16):
///     with block("D"):
///         D[vi, vj] = C[vi, vj] + bias[vj]
/// ```
/// Exact for what commutes with the reduction: adding to or subtracting from a sum, multiplying a
/// product, the maximum with a maximum, the minimum with a minimum, and a copy. For floats the
/// order of the additions changes. The buffer between the blocks stays allocated.
///
/// Requires:
/// 1. both blocks are in one scope of loops, sequences and blocks; what the epilogue reads besides
///    is not written from the reduction on, nor before it in a loop that repeats both without the
///    epilogue, its output is used by none in between, and what else it touches is no memory of
///    threads whose loops the two do not share;
/// 2. the first block is a reduction, writes one buffer of its scope's
///    own, and has a known reducer (schedule/reducer.hpp) with one value;
/// 3. the epilogue is complete, without predicate, and one store, of
///    different elements in different instances; the epilogue visits all
///    of its domain, and depends on loops and lets by its variables alone;
/// 4. the epilogue alone reads the result, and all of it: one load whose indices are
///    its iteration variables, each once, over the domains that the reduction writes;
/// 5. the epilogue's value is a combination that commutes with
///    the reduction, of the element type of the reduction.
/// @throws schedule_error; nothing is changed then
ir::function fuse_reduction_epilogue(const ir::function& f, std::uint64_t reduction,
                                     std::uint64_t epilogue);

}  // namespace tilewright::primitive
