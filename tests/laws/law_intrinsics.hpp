// Intrinsics for random programs: made of a block of the program, so that something matches.
#pragma once

#include <optional>
#include <string>

#include <tilewright/ir/stmt.hpp>

namespace laws {

/// Registers an intrinsic that does what the block does, with the block's own body as the
/// implementation, under a name of its own; nothing when the block is of no such form: regions of
/// constant extents, the same for reading and writing a buffer, and a body that uses its iteration
/// variables in indices alone.
std::optional<std::string> add_intrinsic_of(const tilewright::ir::block_node& block);

}  // namespace laws
