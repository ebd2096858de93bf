// What rules ask about a block before they act: whether operands are used more than once, and how
// its reads follow its write. Answered from the regions that the block declares, so that blocks
// around other blocks are understood too.
#pragma once

#include <string>

#include <tilewright/config.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::space {

/// Annotation of a block that multi-level tiling has tiled: the structure, as text.
inline constexpr const char* tiling_structure_key = "meta_schedule.tiling_structure";

/// How the elements that a block reads lie to the one that it writes.
struct read_pattern {
  /// Each index read is a constant, or a written index plus a constant, and no written index is
  /// used twice in one read.
  bool injective = false;
  /// The written indices stand in each read in the order in which they are written.
  bool ordered = false;
};
/// The pattern of a block that writes single elements at its own iteration variables; neither holds
/// for others, or where one index read is anything else.
read_pattern pattern_of_reads(const ir::block_node& block);

/// True when all blocks of the function have spatial iteration variables only.
bool is_spatial(const ir::function& f);

/// True when the block's iteration variables are its loops, one to one and in order.
bool is_trivially_bound(const schedule& s, const std::string& block);

/// True when the block has been tiled.
bool is_tiled(const schedule& s, const std::string& block);

/// True for a reduction of one output, not tiled and trivially bound, that reads different buffers
/// in boxes of constant extent, and uses elements of one more than once: some spatial variable of
/// more than one value does not occur in its indices.
bool shares_operands(const schedule& s, const std::string& block);

}  // namespace tilewright::space
