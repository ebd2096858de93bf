// Where elements of fragments lie: tiles of 16 x 16, and what a lane has of each.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/fragment_layout.hpp>
#include <tilewright/impl/pass/gpu/fragment_product.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_rows.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::fragments {

/// An index as a position in a tile, which a loop runs over, and the number of the tile.
struct tile_index {
  const loop_node* loop = nullptr;
  arith::linear others;  // the rest of the index, a multiple of the tile
};

/// Indices of fragments in terms of the loops around the statement at hand, and the buffers that lanes have instead.
class tile_places : public mutator {
 protected:
  std::optional<tile_index> index_of(const expr& e) const {
    const arith::linear all = arith::to_linear(e);
    for (const auto& [term, factor] : all.terms) {
      const loop_node* loop = find_loop(term);
      if (factor != 1 || !loop || constant_extent(*loop) % tile != 0 ||
          loop->loop == loop_kind::thread_binding || !is_int(loop->min, 0))
        continue;
      tile_index out{loop, all};
      const expr mine = term;
      erase_if(out.others.terms, [&](const auto& t) { return t.first.same(mine); });
      const bool whole =
          out.others.constant % tile == 0 &&
          support::all(out.others.terms, [](const auto& t) { return t.second % tile == 0; });
      if (whole) return out;
    }
    return std::nullopt;
  }

  const loop_node* find_loop(const expr& v) const {
    for (const loop_node* l : loops_)
      if (l->var.same(v)) return l;
    return nullptr;
  }

  std::pair<tile_index, tile_index> indices_of(const buffer& b, const std::vector<expr>& at) const {
    if (at.size() < 2) refuse(b, "has one dimension; fragments have rows and columns");
    const auto row = index_of(at[at.size() - 2]), column = index_of(at.back());
    if (!row || !column)
      refuse(b,
             "is touched elsewhere than in whole tiles of 16 x 16, which loops of a multiple of 16 "
             "iterations run over");
    return {*row, *column};
  }
  std::pair<const loop_node*, const loop_node*> loops_of(const buffer& b,
                                                         const std::vector<expr>& at) const {
    const auto [row, column] = indices_of(b, at);
    return {row.loop, column.loop};
  }

  /// The loop over the tiles of a loop.
  const var& tiles_of(const loop_node& loop) {
    var& out = tiles_[loop.var];
    if (!out) out = make_var(loop.var->name + "_tile", loop.var.type());
    return out;
  }
  expr tile_number(const tile_index& i) {
    arith::linear n = i.others;
    for (auto& [term, factor] : n.terms) factor /= tile;
    n.constant /= tile;
    const expr rest = arith::from_linear(n), mine = tiles_of(*i.loop);
    return (rest.type() == mine.type() ? rest : cast(mine.type(), rest)) + mine;
  }

  const buffer& spread_buffer(const buffer& b) {
    buffer& out = spread_[b];
    if (out) return out;
    const std::size_t tiled = is_rows(b) ? 1 : 2;
    if (b->shape.size() < tiled) refuse(b, "has one dimension; fragments have rows and columns");
    buffer_node node = *b;
    for (std::size_t d = b->shape.size() - tiled; d < b->shape.size(); ++d) {
      if (!is_int(b->shape[d]) || as_int(b->shape[d]) % tile != 0)
        refuse(b, "has an extent that is no multiple of 16");
      node.shape[d] = integer(b->shape[d].type(), as_int(b->shape[d]) / tile);
    }
    node.shape.push_back(integer(dtype::i32, is_rows(b) ? rows_of_lane : registers));
    node.strides.clear();
    node.scope = "local";
    return out = buffer(new buffer_node(std::move(node)));
  }

  /// Where an element of a tile lies: `element` counts the eight of a lane.
  std::vector<expr> spread_indices(const buffer& b, const std::vector<expr>& at,
                                   const expr& element) {
    const auto [row, column] = indices_of(b, at);
    std::vector<expr> out(at.begin(), at.end() - 2);
    out.push_back(tile_number(row));
    out.push_back(tile_number(column));
    out.push_back(element);
    return out;
  }

  /// Where a number of a row lies; `half`: which of the two rows of a tile that a lane has.
  std::vector<expr> row_indices(const buffer& b, const std::vector<expr>& at, const expr& half) {
    std::vector<expr> out(at.begin(), at.end() - 1);
    out.push_back(tile_number(row_index_of(b, at)));
    out.push_back(half);
    return out;
  }
  tile_index row_index_of(const buffer& b, const std::vector<expr>& at) const {
    if (auto row = index_of(at.back())) return *row;
    refuse(b, "is touched elsewhere than in whole tiles of 16 rows, which a loop runs over");
  }
  expr in_tile(const loop_node& loop, const expr& place) {
    const var& number = tiles_of(loop);
    const expr same = number.type() == place.type() ? place : cast(number.type(), place);
    return number * integer(number.type(), tile) + same;
  }

  std::vector<const loop_node*> loops_;  // around the statement at hand
  std::unordered_map<buffer, buffer> spread_;
  std::unordered_map<expr, var, expr_identity_hash, expr_identity_equal> tiles_;
};

}  // namespace tilewright::pass::detail::fragments
