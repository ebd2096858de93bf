// Sparse matrices like those of applications, made by seeded generators.
//
// What decides about a format is how rows differ in length and where their elements lie: graphs have
// a few very long rows and many empty ones, discretized equations short ones near the diagonal,
// pruned weights blocks or nothing but chance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Compressed sparse rows; columns rise within a row.
struct sparse_matrix {
  std::string name;
  std::int32_t rows = 0, columns = 0;
  std::vector<std::int32_t> offsets;  // [rows + 1]
  std::vector<std::int32_t> indices;  // [nonzeros]
  std::vector<float> values;          // [nonzeros], in [-1, 1)
  std::int64_t nonzeros() const { return static_cast<std::int64_t>(indices.size()); }
};

/// @name Generators; equal on every machine
/// @{
/// Chung-Lu graph whose degrees follow a power law of exponent 2.2; rows and columns permuted.
sparse_matrix powerlaw();
/// R-MAT graph (.57, .19, .19, .05) of 2^16 nodes with 8 edges each.
sparse_matrix rmat16();
/// 65536 nodes with 8 edges each to any other.
sparse_matrix uniform();
/// 65536 rows, a quarter of the elements within 16 of the diagonal, and the diagonal.
sparse_matrix banded();
/// 27-point stencil on 32^3 points.
sparse_matrix stencil27();
/// 2048 x 2048, 32 x 32 blocks with density 6 %, 30 % of the block rows empty.
sparse_matrix blocks32();
/// 2048 x 2048, 2.8 % of the elements anywhere.
sparse_matrix unstructured();
/// The same with another share of the elements: 0.5, 5, 10 and 30 %.
std::vector<sparse_matrix> densities();
/// What formats and balancing meet at their worst: a row with an element in each column, a column with one in
/// each row, a diagonal, an arrow (last row, last column and diagonal), one row, one column, no element, a last row
/// without one, a row of 131,072 elements beside rows of two. 16384 rows, and as many columns unless there is one, or that row.
std::vector<sparse_matrix> pathological();
/// blocks32 with 0.5 % of all elements beside: what pruning by blocks and then by magnitude leaves.
sparse_matrix mixed();
/// 4096 x 4096 in 16 x 16 blocks: a window of 16 blocks from the diagonal on (Longformer).
sparse_matrix longformer();
/// 4096 x 4096 in 16 x 16 blocks: those whose numbers differ in one bit, and the diagonal (butterfly).
sparse_matrix butterfly();
/// Weights that were pruned by size: a share of `zeros` of the elements anywhere.
sparse_matrix pruned_elements(std::int32_t rows, std::int32_t columns, double zeros);
/// Weights that were pruned in blocks: a share of `zeros` of the blocks of 16 x 16.
sparse_matrix pruned_blocks(std::int32_t rows, std::int32_t columns, double zeros);
/// A graph with as many kinds of edges, each a power law among a random half of the nodes; sizes follow Zipf's
/// law. The kind of each element stands in `values`.
sparse_matrix relations(std::int32_t nodes, std::int32_t kinds);
/// Voxels of closed surfaces in 128^3, and their neighbours at 27 offsets, whose numbers stand in `values`.
sparse_matrix surface_points();
/// @}

/// All of them but mixed, densities, pathological ones, masks, weights, relations and points, in this order.
std::vector<sparse_matrix> sparse_matrices();

}  // namespace bench
