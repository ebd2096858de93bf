// add_unit_loop: a loop that runs once around a block or a loop.
#pragma once

#include <cstdint>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// Puts a loop `u` of extent 1 directly around a block or a loop, so that a block without loops has
/// one to be bound to or moved to.
///
/// ```
/// with block("C"):                  for u in range(1):
///     C[()] = A[()] + 1       ->        with block("C"):
///                                           C[()] = A[()] + 1
/// ```
/// Requires: 1. the block is not the root block.
/// @returns the new loop
/// @throws schedule_error
new_loop add_unit_loop(const ir::function& f, std::uint64_t block);
new_loop add_unit_loop(const ir::function& f, const ir::var& loop);

}  // namespace tilewright::primitive
