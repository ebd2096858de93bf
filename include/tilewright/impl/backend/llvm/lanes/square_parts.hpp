// Loops that store narrow elements apart, each iteration to a place of its own in the rows of one buffer.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/backend/llvm/lanes/transpose_parts.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::backend::llvm::detail::square_parts {

inline constexpr int row_bytes = 16;

/// A vector of narrow elements that are stored apart.
struct lane_store {
  const ir::loop_node* lanes;
  const ir::store_node* store;

  int columns() const { return row_bytes / bytes(store->buffer->type); }
};

/// Elements that lie side by side in the buffer are stored by iterations of `v` that follow each other,
/// and rows by the same iterations all.
inline bool goes_along_rows(const ir::store_node& s, const ir::var& v) {
  const ir::buffer& b = s.buffer;
  if (s.indices.empty() || !(b->strides.empty() || ir::is_int(b->strides.back(), 1))) return false;
  for (std::size_t d = 0; d + 1 < s.indices.size(); ++d)
    if (ir::uses_var(s.indices[d], v)) return false;
  return transpose_parts::moves_with(s.indices.back(), v);
}

/// The statement as such a store, in a loop of `v`, for vectors of so many bytes.
inline std::optional<lane_store> as_lane_store(const ir::stmt& s, const ir::var& v,
                                               std::int64_t vector_bytes) {
  const ir::loop_node* l = ir::as_loop(s);
  const ir::store_node* store = l ? ir::as_store(l->body) : nullptr;
  if (!store || l->loop != ir::loop_kind::vectorized || !ir::is_int(l->min) ||
      !ir::is_int(l->extent))
    return std::nullopt;
  const dtype type = store->buffer->type;
  if (is_vector(type) || is_bit_integer(type) || bytes(type) > 2) return std::nullopt;
  const lane_store out{l, store};
  const std::int64_t lanes = l->extent->integer;
  const auto step = pass::detail::unmarked::step_along(store->buffer, store->indices, l->var);
  const bool whole = lanes >= out.columns() &&
                     std::has_single_bit(static_cast<std::uint64_t>(lanes)) &&
                     lanes * bytes(type) <= vector_bytes;
  const bool apart = step && *step != 0 && !ir::uses_var(store->indices.back(), l->var);
  return whole && apart && goes_along_rows(*store, v) ? std::optional(out) : std::nullopt;
}

/// Loads from the buffer below the loop.
inline std::size_t loads_below(const ir::loop_node& l, const ir::buffer& b) {
  std::size_t out = 0;
  ir::for_each_expr(
      l.body, [&](const ir::expr& e) { out += e->op == ir::op::load && e->buffer == b ? 1 : 0; });
  return out;
}

/// Those in values of the elements in whose place the values are stored.
inline std::size_t own_loads_below(const ir::loop_node& l, const ir::buffer& b) {
  std::size_t out = 0;
  ir::for_each_stmt(l.body, [&](const ir::stmt& s) {
    const ir::store_node* store = ir::as_store(s);
    if (!store) return;
    ir::for_each_expr(store->value, [&](const ir::expr& e) {
      if (e->op != ir::op::load || e->buffer != b || store->buffer != b) return;
      bool own = true;
      for (std::size_t d = 0; d < store->indices.size(); ++d)
        own = own && arith::same_value(e->args[d], store->indices[d]);
      out += own ? 1 : 0;
    });
  });
  return out;
}

/// Whether iterations of the loop do nothing but store, each to elements of its own in the rows of one
/// buffer, so that its statements may run in loops of their own.
/// @param own whether values may read the elements in whose place they are stored
inline bool stores_apart(const ir::loop_node& l, bool own = false) {
  const ir::store_node* first = nullptr;
  bool fits = true;
  ir::for_each_stmt(l.body, [&](const ir::stmt& s) {
    const ir::store_node* store = ir::as_store(s);
    const bool plain = store || ir::as_seq(s) || ir::as_loop(s) || ir::as_if(s);
    if (store && !first) first = store;
    fits = fits && plain &&
           (!store || (store->buffer == first->buffer && goes_along_rows(*store, l.var) &&
                       arith::same_value(store->indices.back(), first->indices.back())));
  });
  if (!fits || !first) return false;
  ir::for_each_expr(l.body, [&](const ir::expr& e) { fits = fits && e->op != ir::op::data; });
  return fits && loads_below(l, first->buffer) == (own ? own_loads_below(l, first->buffer) : 0);
}

}  // namespace tilewright::backend::llvm::detail::square_parts
