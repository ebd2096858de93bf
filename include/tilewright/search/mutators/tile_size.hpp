// Mutator: other tile sizes.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Changes one tile, uniform over its neighbours. Of a perfect or partitioned tile: a divisor above
/// 1 of one factor moves to another one, within the limit of the innermost factor. Of a tile that
/// need not divide: another innermost candidate, or the next larger or smaller value that drawing
/// may give a middle factor; the factors further out follow.
/// `decision=[8, 16]` -> `decision=[16, 8]`
std::optional<trace> mutate_tile_size(const trace& t, const ir::function& f,
                                      support::random& random);

}  // namespace tilewright::search
