// Which buffers a block declares to touch.
#pragma once

#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir {

/// Whether one of the regions is of the buffer.
inline bool mentions(const std::vector<buffer_region>& regions, const buffer& b) {
  return support::any(regions, [&](const buffer_region& r) { return r.buffer == b; });
}

/// Whether the block declares that it reads, or writes, some of the buffer.
inline bool reads_buffer(const block_node& of, const buffer& b) { return mentions(of.reads, b); }
inline bool writes_buffer(const block_node& of, const buffer& b) { return mentions(of.writes, b); }

}  // namespace tilewright::ir
