// decompose_reduction: the initialisation of a reduction as a block of its own.
#pragma once

#include <cstdint>

#include <tilewright/schedule/path.hpp>

namespace tilewright::primitive {

/// @returns the id of the init block; `block` names the update block from then on
new_block decompose_reduction(const ir::function& f, std::uint64_t block, const ir::var& loop);

}  // namespace tilewright::primitive
