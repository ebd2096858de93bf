// What blocks and loops say of how their reductions are to be computed: rooms that write these notes and
// rooms that follow them stand apart.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::ir {

/// Annotation of loops and blocks: number of partial results of a reduction; 0 and 1 ask for its terms
/// one after the other, as they are written.
inline constexpr const char* reduction_lanes_note = "tilewright.reduction_lanes";

/// Annotation of blocks, and of the loops of their reductions, whose number of terms is data: fewer terms than this are
/// combined one after the other, and `reduction_lanes_note` is about the others alone. Rows of a matrix may be as
/// different as that.
inline constexpr const char* long_rows_note = "tilewright.long_rows";

/// Annotation of blocks, and of the loops of their reductions: what is multiplied by a zero that a
/// choice gives is left out, also where it is infinite or no number.
inline constexpr const char* skip_zeros_note = "tilewright.skip_zeros";

/// Annotation of reduction loops in the code of a tile's edge, or over short rows: not worth unrolling;
/// with 0 it says that they are.
inline constexpr const char* edge_note = "tilewright.edge";

/// Annotation of reduction loops: accumulators of each sum, a power of two.
inline constexpr const char* sums_apart_note = "tilewright.sums_apart";

/// Annotation of loops whose iterations are sums of their own: how many are computed at a time, a power of two.
inline constexpr const char* sums_together_note = "tilewright.sums_together";

/// Annotation of a loop over the results of a sum each term of which belongs to one of them, which data tell, as an index does:
/// 1 asks for that one alone, in the place of the loop.
inline constexpr const char* scattered_note = "tilewright.scattered";

/// Annotation of a block of products of transformed tiles: the extent of the tiles of results, so that what
/// transforms them before and after is computed for a part of them at a time.
inline constexpr const char* tile_note = "tilewright.tile";

/// Whether all terms are asked for, one after the other.
inline bool asks_for_order(const annotations& notes) {
  const auto lanes = notes.find(reduction_lanes_note);
  return lanes != notes.end() && (lanes->second == attr(0) || lanes->second == attr(1));
}

}  // namespace tilewright::ir
