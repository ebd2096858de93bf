// Strided vector loads that become loads of rows and a transposition in registers.
//
// A lane stride other than 1 or 2 costs one scalar load and one insertion per lane. Where several
// consecutive columns are wanted, which is so in unrolled code along the contiguous dimension, 16
// bytes of each row are loaded at once, and in-register shuffles make one vector per column out of
// them:
//
//   X[lane, c], X[lane, c+1], X[lane, c+2], X[lane, c+3]  ->  rows X[lane, c:c+4], transposed
//
// The columns are remembered for the loads to come, hence only buffers qualify that the innermost
// loop around does not write; what was remembered outside of a loop that writes is not asked there.
//
// Lanes that lie anywhere in two vectors of a local buffer are one shuffle of these:
//
//   part[l + l // 2 * 2], l in vectorized(8)   ->   lanes 0 1 4 5 8 9 12 13 of part[0:8] and part[8:16]
//
// Local buffers turn into registers where they are loaded and stored in whole vectors; a load of each lane would keep
// them in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/transpose_parts.hpp>

namespace tilewright::backend::llvm {

TILEWRIGHT_INLINE void emitter::note_written(const ir::stmt& s) {
  ir::for_each_stmt(s, [&](const ir::stmt& each) {
    if (const auto* store = ir::as_store(each)) written.insert(store->buffer.get());
  });
}

/// Columns that one row load brings: 16 bytes; 0 when the type has no transposition here.
TILEWRIGHT_INLINE int emitter::columns_at_once(const ir::buffer& buffer) {
  const int size = bytes(buffer->type);
  if (size < 4 || written.count(buffer.get())) return 0;
  return 16 / size;
}

/// True when unrolling `l` lets strided loads become loads of rows.
TILEWRIGHT_INLINE bool emitter::reads_rows(const ir::loop_node& l) {
  namespace p = detail::transpose_parts;
  const ir::loop_node* lanes = p::only_vectorized(l.body);
  if (!lanes) return false;
  bool found = false;
  ir::for_each_expr(l.body, [&](const ir::expr& e) {
    if (e->op != ir::op::load || !columns_at_once(e->buffer)) return;
    const place& home = place_of(e->buffer);
    for (std::size_t d = 0; d < e->args.size() && d < home.strides.size(); ++d) {
      const bool contiguous = home.strides[d].fixed() && home.strides[d].constant == 1;
      if (!contiguous || !p::moves_with(e->args[d], l.var) || ir::uses_var(e->args[d], lanes->var))
        continue;
      for (std::size_t other = 0; other < e->args.size(); ++other)
        found = found || (other != d && ir::uses_var(e->args[other], lanes->var));
    }
  });
  return found;
}

/// Loads X[lanes at a] and its neighbours as rows; null when that is not possible or not known to
/// be in bounds.
TILEWRIGHT_INLINE value_ref emitter::load_column(const ir::expr& e, const place& p,
                                                 const affine& a) {
  const int columns = columns_at_once(e->buffer), lanes = lane.lanes;
  // every other element is two loads of whole vectors and one shuffle, less than rows take
  const bool near = a.lane_step == 1 || a.lane_step == -1 || a.lane_step == 2;
  const bool strided = a.vectors.empty() && (a.lane_steps.empty() ? !near : a.lane_step == 0);
  if (columns == 0 || !strided || lanes % columns != 0) return nullptr;
  const column_key key{e->buffer.get(), p.base,     a.scalars, a.lane_steps,
                       a.lane_step,     a.constant, lanes};
  if (const value_ref loaded = computed.columns.find(key)) return loaded;
  bool inside = false;
  for (std::size_t d = 0; d < e->args.size(); ++d) {
    if (!p.strides[d].fixed() || p.strides[d].constant != 1) continue;
    // The last row must still have all of its columns.
    inside = inside || bounds(e->args[d]).within(0, bounds(e->buffer->shape[d]).lo - columns);
  }
  if (!inside) return nullptr;
  const std::vector<value_ref> loaded = transposed(load_rows(p, a, columns), columns);
  for (int w = 0; w < columns; ++w) {
    column_key each = key;
    each.constant += w;
    computed.columns.keep(std::move(each), loaded[static_cast<std::size_t>(w)]);
  }
  return loaded[0];
}

/// Vector r holds in its 16-byte group g the row of lane g * columns + r.
TILEWRIGHT_INLINE std::vector<value_ref> emitter::load_rows(const place& p, const affine& a,
                                                            int columns) {
  const type_ref row = b.stored(p.type, columns);
  const auto join = [&](value_ref x, value_ref y, int each) {
    return b.c.BuildShuffleVector(b.b, x, y, b.ramp(b.i32, 0, 1, 2 * each), "");
  };
  std::vector<value_ref> out;
  for (int r = 0; r < columns; ++r) {
    std::vector<value_ref> groups;
    for (int lane_number = r; lane_number < lane.lanes; lane_number += columns)
      groups.push_back(
          b.load(row, lane_pointer(p, a, lane_number), static_cast<unsigned>(bytes(p.type))));
    for (int each = columns; groups.size() > 1; each *= 2) {
      std::vector<value_ref> wider;
      for (std::size_t g = 0; g < groups.size(); g += 2)
        wider.push_back(join(groups[g], groups[g + 1], each));
      groups = std::move(wider);
    }
    out.push_back(groups[0]);
  }
  return out;
}

/// Transposes square groups of 16 bytes: out[w] lane (g, r) = rows[r] lane (g, w). Each step interleaves
/// the first half of the vectors with the second one.
TILEWRIGHT_INLINE std::vector<value_ref> emitter::transposed(const std::vector<value_ref>& rows,
                                                             int columns) {
  const int lanes = lane.lanes, half = columns / 2;
  // Elements from `first` on of each group, in turn those of x and those of y.
  const auto interleaved = [&](value_ref x, value_ref y, int first) {
    std::vector<std::int64_t> mask;
    for (int g = first; g < lanes; g += columns)
      for (int k = 0; k < half; ++k) {
        mask.push_back(g + k);
        mask.push_back(lanes + g + k);
      }
    return b.c.BuildShuffleVector(b.b, x, y, b.integers(b.i32, mask), "");
  };
  std::vector<value_ref> out = rows;
  for (int step = 1; step < columns; step *= 2) {
    std::vector<value_ref> next;
    for (int i = 0; i < half; ++i)
      for (const int first : {0, half})
        next.push_back(
            interleaved(out[static_cast<std::size_t>(i)],
                        out[static_cast<std::size_t>(i) + static_cast<std::size_t>(half)], first));
    out = std::move(next);
  }
  return out;
}

/// What an integer is in one lane; nothing where it isn't known at this point.
TILEWRIGHT_INLINE std::optional<std::int64_t> emitter::lane_value(const ir::expr& e,
                                                                  int lane_number) {
  if (e->op == ir::op::integer) return e->integer;
  if (e->op == ir::op::var) {
    const auto found = bound.find(e.get());
    if (found == bound.end()) return std::nullopt;
    const binding& known = found->second;
    if (known.is == binding::kind::constant) return known.constant;
    if (known.is == binding::kind::lane) return known.constant + lane_number;
    return std::nullopt;
  }
  if (e->op == ir::op::cast && !is_float(e->args[0].type()))
    return lane_value(e->args[0], lane_number);
  const bool computes = e->op == ir::op::add || e->op == ir::op::sub || e->op == ir::op::mul ||
                        e->op == ir::op::floordiv || e->op == ir::op::floormod;
  if (!computes) return std::nullopt;
  const std::optional<std::int64_t> x = lane_value(e->args[0], lane_number),
                                    y = lane_value(e->args[1], lane_number);
  if (!x || !y) return std::nullopt;
  switch (e->op) {
    case ir::op::add: return *x + *y;
    case ir::op::sub: return *x - *y;
    case ir::op::mul: return *x * *y;
    default: break;
  }
  if (*y <= 0) return std::nullopt;
  return e->op == ir::op::floordiv ? ir::floor_divide(*x, *y) : ir::floor_modulo(*x, *y);
}

/// The element of the buffer that each lane loads; empty where that isn't known.
TILEWRIGHT_INLINE std::vector<std::int64_t> emitter::lane_elements(const ir::expr& load,
                                                                   const place& p) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < lane.lanes; ++i) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < load->args.size(); ++d) {
      const std::optional<std::int64_t> here = lane_value(load->args[d], i);
      if (!here || !p.strides[d].fixed()) return {};
      element += *here * p.strides[d].constant;
    }
    out.push_back(element);
  }
  return out;
}

/// Null where the buffer isn't local, or the lanes aren't known to lie in two of its vectors.
TILEWRIGHT_INLINE value_ref emitter::load_shuffled(const ir::expr& e, const place& p) {
  const ir::buffer& from = e->buffer;
  if (from->scope != "local" || !from->strides.empty() || from->elem_offset) return nullptr;
  const std::vector<std::int64_t> elements = lane_elements(e, p);
  if (elements.empty()) return nullptr;
  std::int64_t size = 1;
  for (const ir::expr& extent : from->shape) size *= bounds(extent).lo;
  const std::int64_t lanes = lane.lanes;
  const auto [first, last] = std::minmax_element(elements.begin(), elements.end());
  const std::int64_t low = *first / lanes, high = *last / lanes;
  if (*first < 0 || (high + 1) * lanes > size) return nullptr;
  std::vector<std::int64_t> chosen;
  for (const std::int64_t element : elements) {
    const std::int64_t vector = element / lanes;
    if (vector != low && vector != high) return nullptr;
    chosen.push_back((vector == low ? 0 : lanes) + element % lanes);
  }
  const auto loaded = [&](std::int64_t vector) {
    affine at_vector;
    at_vector.constant = vector * lanes;
    return b.load(b.stored(p.type, lane.lanes), pointer(p, at_vector), alignment(p, at_vector));
  };
  const value_ref lower = loaded(low);
  return b.c.BuildShuffleVector(b.b, lower, high == low ? lower : loaded(high),
                                b.integers(b.i32, chosen), "");
}

}  // namespace tilewright::backend::llvm
