// Module: register tiles of a tensor intrinsic, for CPUs.
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// Tiles a reduction around the widest intrinsic that the CPU has for it, one that reduces and whose
/// `suits` says yes: the dot products of bytes and of brain floats, and those that a program adds.
/// ```
/// i, j, k  ->  i0 (parallel) j0 (parallel) | i1 | k / 4 | i2 (unrolled) j1 (unrolled) | dot_16x4
/// ```
/// The block gets its packed form, or where extents do not divide or channels are not last, its
/// windowed one, or where no single loop fits, its reindexed and packed form (space/tensor_form.hpp). The tile of sums, rows times vectors, lives in
/// registers; a consumer that is computed element by element goes below the tile.
/// Structural choice: loops that are neither rows nor columns outside or inside of those of columns.
/// @returns false, with nothing done, where no such intrinsic fits
bool register_tiling_with_intrinsic(schedule& s, const std::string& block, const context& where,
                                    chooser& choices);

/// True when the block is the work of an intrinsic: tiled, and not to be changed by later rules.
bool is_tensorized(const schedule& s, const std::string& block);

}  // namespace tilewright::space
