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

#include <tilewright/arith/linear.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/square_parts.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::backend::llvm {

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
