// Whether a program's sizes are such that one can compute with them.
//
// Extents come from scripts, options and calls. Behind this door no sum or product of the extents of
// one buffer or one nest of loops overflows.
#pragma once

#include <cstdint>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// More than any machine has bytes or runs iterations; far enough from the end of 64 bits for padding
/// and strides.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 56;

/// Looks at the literal extents of all buffers, of nests of loops, and of the domains of blocks.
/// @throws argument_error naming the buffer or the loops where an extent of a buffer is negative,
/// where a buffer takes more than `largest_size` bytes, or where a nest or a block runs more often
void check_extents(const function& f);

/// Elements of a buffer, of which an extent that is no literal counts as `other`; as many as 64 bits hold where it
/// has more.
std::int64_t elements_of(const buffer& b, std::int64_t other = 1);

/// Bytes of a buffer, counted alike.
std::int64_t bytes_of(const buffer& b, std::int64_t other = 1);

}  // namespace tilewright::ir
