// Strided stores of narrow elements that become stores of rows.
//
// Each lane that lies elsewhere than its neighbours takes an extraction and a store of its own. Where the
// loop around goes along the rows of what is stored, the vectors of as many iterations as 16 bytes have
// elements are transposed in registers, and stored 16 bytes at a time:
//
//   for c in range(32):               for c0 in range(2):
//     for w in vectorized(64):          16 vectors X[c0*16 + r, 0:64], transposed in squares of 16 x 16
//       Y[w, c] = X[c, w]       ->      Y[w, c0*16 : c0*16 + 16] for each w
//
// What is left behind whole squares is stored once more with iterations before it.
#pragma once

#include <bit>
#include <optional>

#include <tilewright/arith/linear.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/transpose.ipp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::backend::llvm {
namespace detail::square_parts {

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

/// Whether iterations of the loop do nothing but store, each to elements of its own in the rows of one
/// buffer, so that its statements may run in loops of their own.
inline bool stores_apart(const ir::loop_node& l) {
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
  ir::for_each_expr(l.body, [&](const ir::expr& e) {
    const bool touches = e->op == ir::op::load && e->buffer == first->buffer;
    fits = fits && !touches && e->op != ir::op::data;
  });
  return fits;
}

}  // namespace detail::square_parts

/// Emits a serial loop in which narrow elements are stored apart; false where there are none such.
TILEWRIGHT_INLINE bool emitter::emit_squares(const ir::loop_node& l, std::int64_t first,
                                             std::int64_t extent) {
  namespace p = detail::square_parts;
  const ir::seq_node* several = ir::as_seq(l.body);
  const std::vector<ir::stmt> parts = several ? several->stmts : std::vector<ir::stmt>{l.body};
  const auto square = [&](const ir::stmt& s) {
    std::optional<p::lane_store> out = p::as_lane_store(s, l.var, b.cpu.vector_bits / 8);
    if (out && out->columns() > extent) out.reset();
    return out;
  };
  if (support::none(parts, [&](const ir::stmt& s) { return square(s).has_value(); }) ||
      !p::stores_apart(l))
    return false;
  for (const ir::stmt& part : parts) {
    if (const std::optional<p::lane_store> one = square(part)) {
      emit_rows_of_squares(l, first, extent, *one->lanes, *one->store);
      continue;
    }
    const ir::stmt rest = with_body(l, part);
    made_.push_back(rest);  // what is known of statements goes by their address
    emit(rest);
  }
  return true;
}

/// The vectors of 16 bytes' worth of iterations at a time.
TILEWRIGHT_INLINE void emitter::emit_rows_of_squares(const ir::loop_node& l, std::int64_t first,
                                                     std::int64_t extent,
                                                     const ir::loop_node& lanes,
                                                     const ir::store_node& store) {
  const std::int64_t columns = detail::square_parts::row_bytes / bytes(store.buffer->type),
                     groups = extent / columns;
  const auto at_number = [&](std::int64_t start) {
    const scope inner(*this);
    affine from;
    from.constant = start;
    emit_square(l, lanes, store, from, {start, start});
  };
  if (groups == 1)
    at_number(first);
  else
    emit_counted(l.var->name, b.index(0), b.index(groups), true,
                 static_cast<double>(columns) * work(l.body), [&](value_ref group) {
                   affine from;
                   from.scalars.emplace_back(group, columns);
                   from.constant = first;
                   emit_square(l, lanes, store, from, {first, first + (groups - 1) * columns});
                 });
  if (extent % columns != 0) at_number(first + extent - columns);
}

/// The vectors of the iterations that begin at `from`, which lies in `range`.
TILEWRIGHT_INLINE void emitter::emit_square(const ir::loop_node& l, const ir::loop_node& lanes,
                                            const ir::store_node& store, const affine& from,
                                            interval range) {
  const dtype type = store.buffer->type;
  const int count = static_cast<int>(lanes.extent->integer),
            columns = detail::square_parts::row_bytes / bytes(type);
  const std::int64_t start = lanes.min->integer;
  const auto bind_row = [&](int r) {
    affine row = from;
    row.constant += r;
    bound[l.var.get()] =
        binding{binding::kind::form, 0, {}, {range.lo + r, range.hi + r}, std::move(row)};
  };
  lane = {count, nullptr, false};
  bound[lanes.var.get()] = binding{binding::kind::lane, start, {}, {start, start + count - 1}, {}};
  std::vector<value_ref> rows;
  for (int r = 0; r < columns; ++r) {
    bind_row(r);
    rows.push_back(b.to_stored(type, widen(emit(store.value), true), count));
  }
  rows = transposed(rows, columns);
  bind_row(0);
  const place& p = place_of(store.buffer);
  const affine a = offset(p, store.buffer, store.indices);
  for (int r = 0; r < columns; ++r)
    for (int g = 0; g < count; g += columns) {
      const value_ref all = rows[static_cast<std::size_t>(r)];
      const value_ref row = count == columns ? all
                                             : b.c.BuildShuffleVector(
                                                   b.b, all, all, b.ramp(b.i32, g, 1, columns), "");
      b.store(row, lane_pointer(p, a, g + r), static_cast<unsigned>(bytes(type)));
    }
  bound.erase(lanes.var.get());
  bound.erase(l.var.get());
  lane = {};
}

}  // namespace tilewright::backend::llvm
