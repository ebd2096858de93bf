// Module: reductions over rows whose lengths are data, as those of a sparse matrix.
#pragma once

#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// True for a block around nests of loops, in one of which an extent is read from memory, and in one a
/// reduction.
bool is_ragged_reduction(const schedule& s, const std::string& block);

/// Walks a row once for each tile of the output's contiguous dimension, whose sums stay in vector
/// registers meanwhile; the other operand is loaded in vectors along the tile. Rows run in parallel,
/// a drawn number of them at a time, by their elements, or, where one has more of these than a chunk, divided among tasks.
/// ```
/// for i: C_o                                  for i_0 (parallel), i_1: C_o
///   for k in range(n), j: C            ->       for j_0, k in range(n), j_1 (vectorized): C
/// ```
/// The width of the tile is drawn: a wide one walks the row less often, a narrow one leaves
/// registers for more elements at a time. So is how many elements ahead the rows of a gathered
/// operand are fetched, if at all, whether the walk is written out several times, which pays where
/// rows are long, and in how many accumulators it adds up then. Without such a dimension, as in a product with a vector, the row
/// is walked by vectors of its own elements, the last one under a mask; their width is drawn, and
/// whether to walk it so at all, and from how many elements on. The only row of a matrix is shared out among threads. A row of sums, as of a sampled product, has its vectors along the sums, of which a
/// drawn number is computed at a time, and what is computed element by element beside may be in vectors along the row. Of a matrix in blocks, a
/// drawn number of rows of a block is summed together, so that a row of the other operand is loaded once
/// for them; of rows side by side, a drawn number of these, so that their sums do not wait for each other.
/// Structural choice: whether an operand whose rows are read many times, and fit the caches, is copied to where a
/// line begins.
void ragged_reduction(schedule& s, const std::string& block, const context& where,
                      chooser& choices);

}  // namespace tilewright::space
