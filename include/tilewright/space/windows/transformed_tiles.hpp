// Module: products of transformed tiles, as those of Winograd's convolutions, some rows of tiles at a
// time.
#pragma once

#include <optional>
#include <string>

#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::space {

/// The block whose annotation (ir::tile_note) says that it multiplies transformed tiles, where what stands
/// before and after it is the chain that this module places: tiles, rows and an image; columns and results.
std::optional<std::string> transformed_products(const schedule& s);

/// Computes the chain around `products` for a drawn number of rows of tiles at a time, so that what is
/// transformed and what is multiplied stay in a cache, and tiles the products in registers:
/// ```
/// image; rows; tiles; products; columns; Y each in a nest   ->
///   for n, u_0: for u, c_0: rows, tiles | for i, j, k_0: products | for u, v, k_0: columns, Y
/// ```
/// Structural choices: rows of tiles at a time, the order of the tiles of a product, a panel of the filter, and
/// where an image whose channels lie apart is copied. Transformations are written out, along vectors of channels.
///
/// Requires: 1. transformed_products names the block.
/// @throws schedule_error
void transformed_tiles(schedule& s, const std::string& products, const context& where,
                       chooser& choices);

}  // namespace tilewright::space
