#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/pass/gpu/groups/group_product.hpp>
#include <tilewright/impl/pass/gpu/pieces.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/swizzle_shared.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::swizzling {

using namespace tilewright::ir;

inline constexpr std::string_view swizzled_scope = "shared.swizzled";
inline constexpr std::int64_t piece_bytes = 16, pieces_of_all_banks = 8;

/// Whether rows stand one after the other and are as long as a pattern needs.
inline bool can_swizzle(const buffer& b) {
  if (storage_rank(b->scope) != 1 || b->shape.size() < 2 || !is_int(b->shape.back())) return false;
  const std::size_t last = b->shape.size() - 1;
  const bool dense = b->strides.empty() || (is_int(b->strides[last], 1) &&
                                            is_int(b->strides[last - 1], as_int(b->shape[last])));
  const std::int64_t row = as_int(b->shape.back()) * bytes(b->type);
  return dense && (row == 2 * piece_bytes || row == 4 * piece_bytes ||
                   row % (pieces_of_all_banks * piece_bytes) == 0);
}

class swizzler : public rerouting {
 public:
  explicit swizzler(const stmt& kernel) {
    for_each_stmt(kernel, [&](const stmt& s) {
      if (const store_node* to = as_store(s)) choose_asked(to->buffer);
    });
    for_each_expr(kernel, [&](const expr& e) {
      if (e->op == op::load) choose_asked(e->buffer);
      if (groups::is_product_call(e))
        for (const std::size_t operand : {1U, 2U}) choose_panels(e->args[operand]->buffer);
      if (!is_matrix_load(e) || !can_swizzle(e->args.back()->buffer)) return;
      const buffer& b = e->args.back()->buffer;
      chosen_.insert(b);
      // where the copy engine swizzles, the pattern is its own
      if (e->name == "tw_load_transposed" && bytes(b->type) == 1 &&
          b->scope != tensor_copies::boxed_scope)
        pairs_.insert(b);
    });
  }
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    return tensor_copies::is_description(s) ? s : rerouting::mutate(s);
  }

 private:
  /// What has the scope for it, or comes from the copy engine, or leaves by it.
  void choose_asked(const buffer& b) {
    if (b->scope == tensor_copies::boxed_scope && can_swizzle(b)) chosen_.insert(b);
    if (b->scope == columns_scope && can_swizzle(b) && pieces_of(b) == pieces_of_all_banks)
      chosen_.insert(b);
    if (b->scope != swizzled_scope || !chosen_.insert(b).second || can_swizzle(b)) return;
    throw build_error("buffer " + b->name + " of scope " + std::string(swizzled_scope) +
                      " cannot be swizzled: its rows have to be dense, and of 32, 64 or a multiple "
                      "of 128 bytes; choose other tiles, or scope shared");
  }

  /// As warp groups read it: rows of 128 bytes, longer ones in panels one behind the other.
  void choose_panels(const buffer& b) {
    const std::size_t rank = b->shape.size();
    if (!panels_.insert(b).second) return;
    const bool whole = can_swizzle(b) && pieces_of(b) == pieces_of_all_banks &&
                       is_int(b->shape[rank - 2]) && as_int(b->shape[rank - 2]) % 8 == 0;
    if (!whole)
      throw build_error("buffer " + b->name +
                        ", which a warp group multiplies, has rows that are no multiple of 128 "
                        "bytes, or not eight of them; choose other tiles");
    chosen_.insert(b);
  }

  /// Of a row, at most as many as all banks have.
  static std::int64_t pieces_of(const buffer& b) {
    return std::min(as_int(b->shape.back()) * bytes(b->type) / piece_bytes, pieces_of_all_banks);
  }

  bool reroutes(const buffer& b) const override { return chosen_.count(b) != 0; }
  buffer_element rerouted(const buffer& b, std::vector<expr> at) override {
    const expr& row = at[at.size() - 2];
    const expr& column = at.back();
    const dtype t = column.type();
    const std::int64_t width = piece_bytes / bytes(b->type), pieces = pieces_of(b);
    const auto number = [&](std::int64_t n) { return integer(t, n); };
    expr pattern = row.type() == t ? row : cast(t, row);
    // eight rows of 32 or 64 bytes take less than eight times all banks
    if (b->scope == columns_scope)
      pattern = floormod(pattern, number(4)) * 2;
    else if (pairs_.count(b) && pieces == pieces_of_all_banks)
      pattern =
          floormod(floordiv(pattern, number(4)), number(4)) * 2 + floormod(pattern, number(2));
    else
      pattern = floormod(floordiv(pattern, number(pieces_of_all_banks / pieces)), number(pieces));
    const std::int64_t row_elements = groups::panel_row_bytes / bytes(b->type);
    const bool panels = panels_.count(b) && as_int(b->shape.back()) > row_elements;
    const expr inside = panels ? floormod(column, number(row_elements)) : column;
    expr piece = floordiv(inside, number(width));
    // warp groups name the first row of a tile
    if (!panels_.count(b) || !is_int(arith::simplify(pattern), 0))
      piece = call(t, "bitwise_xor", {piece, pattern});
    expr place = piece * number(width) + floormod(column, number(width));
    if (panels) {  // rows one behind the other in each panel, panels one behind the other
      const expr same = row.type() == t ? row : cast(t, row);
      place = (floordiv(column, number(row_elements)) * number(as_int(b->shape[at.size() - 2])) +
               same) *
                  number(row_elements) +
              place;
      at[at.size() - 2] = integer(row.type(), 0);
    }
    at.back() = place;
    return {b, std::move(at)};
  }

  buffer_set chosen_;
  buffer_set panels_;  // what warp groups multiply
  buffer_set pairs_;   // from which rows 0, 1, 4, 5, 8, 9, 12 and 13 are loaded at once
};

}  // namespace tilewright::pass::detail::swizzling

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function swizzle_shared(const ir::function& f) {
  ir::function out = f;
  out.body = detail::swizzling::swizzler(f.body).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
