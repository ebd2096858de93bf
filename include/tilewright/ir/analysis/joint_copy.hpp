// Copies that the threads of a block make jointly.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// The annotation of a block that says of itself that it copies.
inline constexpr const char* auto_copy = "auto_copy";
bool is_auto_copy(const block_node& copy);

/// Whether the threads of the loop, which stands around the block, make its copy jointly: it is
/// a copy by its annotation, fills or empties memory that they share, and touches none that each of
/// them has for itself, as the fragments of a warp: those, each fills and empties alone. All of them
/// have come to the block before, the copy is made once, and none goes on before it is done
/// (MetaSchedule's memory hammer spreads it over the threads, between barriers).
bool copies_jointly(const block_node& copy, const loop_node& loop);

}  // namespace tilewright::ir
