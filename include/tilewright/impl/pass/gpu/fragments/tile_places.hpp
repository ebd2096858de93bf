// Where elements of fragments lie: tiles of 16 x 16, and what a lane has of each.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <tilewright/impl/pass/gpu/fragments/fragment_layout.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_product.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_rows.hpp>
#include <tilewright/impl/pass/gpu/fragments/tile_loops.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::fragments {

/// Indices of fragments in terms of the loops around the statement at hand, and the buffers that threads have instead.
class tile_places : public mutator {
 protected:
  const buffer& spread_buffer(const buffer& b) {
    buffer& out = spread_[b];
    if (out) return out;
    const std::size_t tiled = is_rows(b) ? 1 : 2;
    if (b->shape.size() < tiled) refuse(b, "has one dimension; fragments have rows and columns");
    buffer_node node = *b;
    for (std::size_t d = b->shape.size() - tiled; d < b->shape.size(); ++d) {
      const std::int64_t size = d + 2 == b->shape.size() ? tile_loops::rows_of_tile(b) : tile;
      if (!is_int(b->shape[d]) || as_int(b->shape[d]) % size != 0)
        refuse(b, "has an extent that is no multiple of " + std::to_string(size));
      node.shape[d] = integer(b->shape[d].type(), as_int(b->shape[d]) / size);
    }
    node.shape.push_back(integer(dtype::i32, is_rows(b) ? rows_of_lane : registers));
    node.strides.clear();
    node.scope = "local";
    return out = buffer(new buffer_node(std::move(node)));
  }

  /// Where an element of a tile lies: `element` counts the eight of a lane.
  std::vector<expr> spread_indices(const buffer& b, const std::vector<expr>& at,
                                   const expr& element) {
    const auto [row, column] = loops_.indices_of(b, at);
    std::vector<expr> out(at.begin(), at.end() - 2);
    out.push_back(loops_.tile_number(row));
    out.push_back(loops_.tile_number(column));
    out.push_back(element);
    return out;
  }

  /// Where a number of a row lies; `half`: which of the two rows of a tile that a lane has.
  std::vector<expr> row_indices(const buffer& b, const std::vector<expr>& at, const expr& half) {
    std::vector<expr> out(at.begin(), at.end() - 1);
    out.push_back(loops_.tile_number(row_index_of(b, at)));
    out.push_back(half);
    return out;
  }
  tile_index row_index_of(const buffer& b, const std::vector<expr>& at) const {
    if (auto row = loops_.index_of(at.back())) return *row;
    refuse(b, "is touched elsewhere than in whole tiles of 16 rows, which a loop runs over");
  }
  tile_loops loops_;  // around the statement at hand
  std::unordered_map<buffer, buffer> spread_;
};

}  // namespace tilewright::pass::detail::fragments
