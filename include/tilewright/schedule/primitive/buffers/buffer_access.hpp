// unsafe_hide_buffer_access, annotate_buffer_access: what a block is said to touch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/ir/index_map.hpp>
#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Takes regions out of the reads or the writes of a block.
///
/// ```
/// with block("C"):                          with block("C"):
///     reads(A[vi, vk], B[vk, vj])      ->       reads(A[vi, vk])
///     writes(C[vi, vj])                         writes(C[vi, vj])
/// ```
/// Every later proof about the block then misses these accesses: what primitives accept afterwards
/// may change results. It is meant for blocks that hand their buffers to an opaque intrinsic.
///
/// Requires:
/// 1. `buf_type` is "read" or "write";
/// 2. each index names a region of that list.
/// @throws schedule_error; nothing is changed then
ir::function unsafe_hide_buffer_access(const ir::function& f, std::uint64_t block,
                                       const std::string& buf_type,
                                       const std::vector<std::int64_t>& buf_index_array);

/// Says which part of a buffer an instance of the block touches, instead of what was inferred.
///
/// ```
/// with block("B"):                          with block("B"):
///     vi = axis.spatial(64, i)                  vi = axis.spatial(64, i)
///     reads(A[0:128])                  ->       reads(A[vi * 2:vi * 2 + 2])
///                                               block_attr({"explicit_read_region": [0]})
/// ```
/// with `lambda vi: ((vi * 2, vi * 2 + 2),)`. Later primitives and the layout of buffers believe
/// it: a range that is too small makes wrong programs.
///
/// Requires:
/// 1. `buf_type` is "read" or "write";
/// 2. `buffer_index` names a region of that list;
/// 3. the map takes as many indices as the block has iteration variables, and gives a begin and an
///    end for every dimension of the buffer.
/// @param ranges results are begin and end of every dimension in turn
/// @throws schedule_error; nothing is changed then
ir::function annotate_buffer_access(const ir::function& f, std::uint64_t block, int buffer_index,
                                    const std::string& buf_type, const ir::index_map& ranges);

}  // namespace tilewright::primitive
