// Tiles of results that stay in vector registers while sums of products are added to them.
#pragma once

#include <cstdint>
#include <vector>

#include <tilewright/support/dtype.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {

/// A register tile of `rows` times `columns` elements; columns are the lanes of one or more
/// vectors.
struct register_tile {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  double weight = 1;  // how likely it is drawn
};

/// Register tiles that respect the register file: rows * vectors accumulators, one register per
/// vector of the streamed operand, and one for the broadcast one. Weights grow with the number of
/// multiply-adds per load and with the share of the tiles' work that lies inside the extents.
std::vector<register_tile> register_tiles(const target::cpu& cpu, dtype type,
                                          std::int64_t row_extent, std::int64_t column_extent);

}  // namespace tilewright::space
