// The types of indices.
#pragma once

#include <tilewright/support/dtype.hpp>

namespace tilewright {

/// True for the types that loops, extents and offsets have, i32 and i64: index arithmetic is done in
/// them, and stored offsets and coordinates have one of them.
constexpr bool is_index(dtype t) noexcept { return t == dtype::i32 || t == dtype::i64; }

}  // namespace tilewright
