// Module: multi-level tiling for CPUs, whose innermost tile lives in vector registers (MetaSchedule,
// section 3.2; its "SSRSRS"). The structure as an option: multi_level_tiling.hpp.
#pragma once

#include <string>
#include <vector>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/register_tiles.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {

/// Whether vectors along the spatial variable `iter` of a block with profile `p` can be loaded of
/// every operand, their lanes a few elements apart at most, or of a panel into which the operand is
/// transposed.
bool can_be_columns(const schedule& s, const std::string& block, const block_profile& p,
                    std::size_t iter);

/// True when the block is a reduction with constant loops whose output is contiguous along one of
/// its spatial variables, and whose operands can be loaded as vectors along it or staged into
/// panels that can.
bool needs_register_tiling(const schedule& s, const std::string& block);

/// Tiles the block in the structure SSRSRS, the innermost S a register tile:
/// ```
/// i, j, k  ->  i0 j0 (parallel) | i1 j1 | k0 | j2 i2 | k1 | i3 (unrolled) j3 (vectorized)
/// ```
/// Structural choices: reduction loops split or whole; operands left in place, the streamed one
/// staged into a panel below j2, or the broadcast one staged into a block too; where the producer
/// of a padded operand and an element-wise consumer are computed. Tile sizes need not divide. An
/// operand that is not contiguous along the columns always goes through a transposed panel.
void register_tiling(schedule& s, const std::string& block, const context& where, chooser& choices);

}  // namespace tilewright::space
