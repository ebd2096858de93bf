// A number for each row of fragments: maxima and sums of rows, and what is made of these.
//
// A row of an accumulator is held by four lanes, two rows of each tile by one. A buffer of scope wmma.rows has one
// element for each row; a lane has those of its two rows, the same as the three lanes beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/accumulation.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_layout.hpp>
#include <tilewright/impl/pass/gpu/fragments/fragment_product.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::fragments {

inline constexpr std::int64_t rows_of_lane = 2, lanes_of_row = 4;

inline bool is_rows(const buffer& b) { return b->scope == "wmma.rows"; }

/// The layouts whose rows lie as those of sums: operands of 16 bits that are no columns of the buffer, too.
inline bool has_rows(const layout& l) {
  return l.part == 2 && l.halves_inside && !l.swapped && !l.interleaved && !l.of_group;
}

/// R[i] = R[i] + x of elements in row i of fragments, in two nested loops.
struct row_reduction {
  std::vector<const loop_node*> loops;  // two, outermost first
  const store_node* store = nullptr;
  reductions::accumulation step;
};

/// A fragment of rows and columns that is loaded; null where there is none.
inline const expr_node* tile_load(const expr& value) {
  const expr_node* out = nullptr;
  for_each_expr(value, [&](const expr& e) {
    if (e->op == op::load && is_fragment(e->buffer) && !is_rows(e->buffer)) out = e.operator->();
  });
  return out;
}

/// Nothing where the loop begins something else.
inline std::optional<row_reduction> row_reduction_of(const loop_node& loop) {
  row_reduction out;
  out.loops.push_back(&loop);
  stmt s = loop.body;
  while (const loop_node* inner = as_loop(s)) {
    out.loops.push_back(inner);
    s = inner->body;
  }
  out.store = as_store(s);
  if (out.loops.size() != 2 || !out.store || !is_rows(out.store->buffer) ||
      !tile_load(out.store->value))
    return std::nullopt;
  auto step = reductions::match_single(*out.store);
  if (!step || loads_from(step->value[0], out.store->buffer)) return std::nullopt;
  out.step = std::move(*step);
  return out;
}

/// What a row has after one more value. A maximum over a NaN follows the order of its terms anyway, so that it may be taken
/// by an instruction that leaves NaNs out.
inline expr combined_in_row(const reductions::accumulation& step, const expr& row,
                            const expr& value) {
  if (step.combine == op::max && row.type() == dtype::f32)
    return call(row.type(), "tw_greater", {row, value});
  return step.combined({row}, {value})[0];
}

/// The number in `part` of all four lanes of a row combined, in each of them.
inline stmt combine_lanes(const reductions::accumulation& step, const buffer& part,
                          const std::vector<expr>& at) {
  std::vector<stmt> out;
  for (std::int64_t apart = 1; apart < lanes_of_row; apart *= 2) {
    const expr mine = load(part, at);
    const expr other = make_var("other", mine.type());
    const expr theirs = call(mine.type(), "tw_shuffle_xor",
                             {mine, integer(dtype::i32, apart), integer(dtype::i32, lanes_of_row)});
    out.push_back(
        make_let(other, theirs, make_store(part, at, combined_in_row(step, mine, other))));
  }
  return make_seq(std::move(out));
}

}  // namespace tilewright::pass::detail::fragments
