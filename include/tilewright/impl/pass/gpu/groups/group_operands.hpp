// The operands of a product of a warp group, and the loops that they follow.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/gpu/fragments/fragment_product.hpp>
#include <tilewright/impl/pass/gpu/fragments/tile_loops.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>

namespace tilewright::pass::detail::fragments {

/// C[row, column] += A[row, k] B[k, column], where either of A and B may lie the other way.
struct group_operands {
  expr a, b;  // loads
  const loop_node *row = nullptr, *column = nullptr, *k = nullptr;
  tile_index sum_row, sum_column;
  std::int64_t columns = 0;  // at once

  /// The number of the first tile of 16 columns in the sums.
  expr first_column_tile(tile_loops& loops) const {
    arith::linear n = sum_column.others;
    for (auto& [term, factor] : n.terms) factor /= tile;
    n.constant /= tile;
    const expr rest = arith::from_linear(n), mine = loops.tiles_of(*column, columns);
    return (rest.type() == mine.type() ? rest : cast(mine.type(), rest)) +
           mine * integer(mine.type(), columns / tile);
  }
};

[[noreturn]] inline void refuse_operand(const buffer& b, const std::string& what) {
  throw build_error("buffer " + b->name + " of scope " + b->scope +
                    ", which a warp group multiplies, " + what);
}

/// The loop over tiles of `size` in one of the operand's last two indices, other than `but`; in the other of these indices
/// it does not occur.
inline const loop_node* tiled_loop(const expr& operand, std::int64_t size, const loop_node* but,
                                   const tile_loops& loops) {
  const std::vector<expr>& at = operand->args;
  for (std::size_t d = at.size() - 2; d < at.size(); ++d) {
    const auto found = loops.index_of(at[d], size);
    if (!found || found->loop == but) continue;
    bool elsewhere = false;
    for (std::size_t e = 0; e < at.size(); ++e)
      elsewhere = elsewhere || (e != d && uses_var(at[e], found->loop->var));
    if (!elsewhere) return found->loop;
  }
  return nullptr;
}

inline group_operands operands_of_group(const store_node& s, const product& p,
                                        const tile_loops& loops) {
  using groups::rows, groups::steps;
  group_operands out;
  std::tie(out.sum_row, out.sum_column) = loops.indices_of(s.buffer, s.indices);
  out.row = out.sum_row.loop;
  out.column = out.sum_column.loop;
  const auto follows = [](const expr& operand, const loop_node* loop) {
    return support::any(operand->args, [&](const expr& e) { return uses_var(e, loop->var); });
  };
  out.a = p.a;
  out.b = p.b;
  if (!follows(out.a, out.row)) std::swap(out.a, out.b);
  if (out.row == out.column || !follows(out.a, out.row) || follows(out.a, out.column) ||
      !follows(out.b, out.column) || follows(out.b, out.row))
    refuse(s.buffer, "is stored to by something that is no product of matrices");
  for (const expr& operand : {out.a, out.b}) {
    const buffer& b = operand->buffer;
    if (operand->args.size() < 2) refuse_operand(b, "has one dimension");
    if ((b->type != dtype::f16 && b->type != dtype::bf16) || s.buffer->type != dtype::f32)
      refuse_operand(b, "has elements of " + std::string(name(b->type)) + " and sums in " +
                            std::string(name(s.buffer->type)) +
                            "; products of warp groups take f16 and bf16 with sums in f32");
  }
  if (out.a->buffer->type != out.b->buffer->type)
    refuse_operand(out.b->buffer, "has other elements than " + out.a->buffer->name);
  out.k = tiled_loop(out.a, steps, out.row, loops);
  if (!out.k || tiled_loop(out.b, steps, out.column, loops) != out.k ||
      tiled_loop(out.a, rows, out.k, loops) != out.row)
    refuse_operand(out.a->buffer,
                   "is not read in tiles of 64 x 16, which loops of multiples of 64 and 16 "
                   "iterations run over");
  constexpr std::int64_t most = 256;
  for (std::int64_t n = most; n > 0 && out.columns == 0; n -= tile)
    if (constant_extent(*out.column) % n == 0 && loops.index_of(s.indices.back(), n) &&
        tiled_loop(out.b, n, out.k, loops) == out.column)
      out.columns = n;
  if (out.columns == 0)
    refuse_operand(out.b->buffer, "is not read in tiles of 16 steps and a multiple of 16 columns");
  return out;
}

}  // namespace tilewright::pass::detail::fragments
