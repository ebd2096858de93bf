// Loops over tiles of fragments, and indices in terms of them.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_layout.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_product.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::fragments {

/// An index as a position in a tile, which a loop runs over, and the number of the tile.
struct tile_index {
  const loop_node* loop = nullptr;
  arith::linear others;  // the rest of the index, a multiple of the tile
  std::int64_t size = tile;
};

/// The loops around a place, and those of them that run over tiles.
class tile_loops {
 public:
  void enter(const loop_node& loop) { loops_.push_back(&loop); }
  void leave() { loops_.pop_back(); }
  const std::vector<const loop_node*>& around() const { return loops_; }

  /// The index as one of tiles of `size`; nothing where it is none.
  std::optional<tile_index> index_of(const expr& e, std::int64_t size = tile) const {
    const arith::linear all = arith::to_linear(e);
    for (const auto& [term, factor] : all.terms) {
      const loop_node* loop = find_loop(term);
      if (factor != 1 || !loop || constant_extent(*loop) % size != 0 ||
          loop->loop == loop_kind::thread_binding || !is_int(loop->min, 0))
        continue;
      tile_index out{loop, all, size};
      const expr mine = term;
      erase_if(out.others.terms, [&](const auto& t) { return t.first.same(mine); });
      const bool whole =
          out.others.constant % size == 0 &&
          support::all(out.others.terms, [&](const auto& t) { return t.second % size == 0; });
      if (whole) return out;
    }
    return std::nullopt;
  }

  std::pair<tile_index, tile_index> indices_of(const buffer& b, const std::vector<expr>& at) const {
    if (at.size() < 2) refuse(b, "has one dimension; fragments have rows and columns");
    const std::int64_t rows = rows_of_tile(b);
    const auto row = index_of(at[at.size() - 2], rows), column = index_of(at.back());
    if (!row || !column)
      refuse(b, "is touched elsewhere than in whole tiles of " + std::to_string(rows) +
                    " x 16, which loops of a multiple of " + (rows == tile ? "" : "64 and ") +
                    "16 iterations run over");
    return {*row, *column};
  }
  std::pair<const loop_node*, const loop_node*> loops_of(const buffer& b,
                                                         const std::vector<expr>& at) const {
    const auto [row, column] = indices_of(b, at);
    return {row.loop, column.loop};
  }

  static std::int64_t rows_of_tile(const buffer& b) { return is_group_sum(b) ? 4 * tile : tile; }

  /// The loop over tiles of `size` of a loop.
  const var& tiles_of(const loop_node& loop, std::int64_t size) {
    tiles& out = tiles_[loop.var];
    if (out.number && out.size != size)
      throw build_error("loop " + loop.var->name +
                        " runs over tiles of fragments of two sizes; give each a loop");
    if (!out.number) out = {make_var(loop.var->name + "_tile", loop.var.type()), size};
    return out.number;
  }
  expr tile_number(const tile_index& i) {
    arith::linear n = i.others;
    for (auto& [term, factor] : n.terms) factor /= i.size;
    n.constant /= i.size;
    const expr rest = arith::from_linear(n), mine = tiles_of(*i.loop, i.size);
    return (rest.type() == mine.type() ? rest : cast(mine.type(), rest)) + mine;
  }
  /// Of an element of a tile of `size`, the value of the loop.
  expr in_tile(const loop_node& loop, const expr& place, std::int64_t size) {
    const var& number = tiles_of(loop, size);
    const expr same = number.type() == place.type() ? place : cast(number.type(), place);
    return number * integer(number.type(), size) + same;
  }

  struct tiles {
    var number;
    std::int64_t size = tile;
  };
  /// Null where the loop runs over no tiles.
  const tiles* found(const var& loop) const {
    const auto at = tiles_.find(loop);
    return at == tiles_.end() ? nullptr : &at->second;
  }

 private:
  const loop_node* find_loop(const expr& v) const {
    for (const loop_node* l : loops_)
      if (l->var.same(v)) return l;
    return nullptr;
  }

  std::vector<const loop_node*> loops_;
  std::unordered_map<expr, tiles, expr_identity_hash, expr_identity_equal> tiles_;
};

}  // namespace tilewright::pass::detail::fragments
