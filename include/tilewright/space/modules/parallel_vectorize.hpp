// Module: what is left after tiling gets vectors inside and threads outside (MetaSchedule: the CPU
// half of Parallelize-Vectorize-Unroll).
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Vectorizes the block along the loop on which its output is contiguous. Reductions keep that loop
/// innermost: `for j: for k` -> `for j0: for k: for j1 (vectorized)`.
/// Does nothing for a block that is already tiled or has no such loop; reductions into single
/// elements are vectorized when they are lowered.
void vectorize_innermost(schedule& s, const std::string& block, const context& where,
                         chooser& choices);

/// Vectorizes a block that reads contiguously along its variable `along` and writes so along
/// `across`, in squares that are transposed in registers. The block's variables are its innermost
/// loops, one to one.
void vectorize_squares(schedule& s, block_rv block, std::size_t across, std::size_t along,
                       const context& where, chooser& choices);

/// Runs the outermost spatial loops of every nest in the root scope in parallel, as many as are
/// free of reductions and hold one block each; one loop where several blocks share it.
void parallelize_outermost(schedule& s, const context& where);

}  // namespace tilewright::space
