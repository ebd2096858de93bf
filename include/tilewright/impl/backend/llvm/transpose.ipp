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
#pragma once

#include <algorithm>

#include <tilewright/backend/llvm/emit.hpp>

namespace tilewright::backend::llvm {
namespace detail::transpose_parts {

/// True for `v` plus something without `v`.
inline bool moves_with(const ir::expr& index, const ir::var& v) {
  if (index.same(v)) return true;
  if (index->op != ir::op::add) return false;
  const bool left = ir::uses_var(index->args[0], v), right = ir::uses_var(index->args[1], v);
  return left != right && moves_with(index->args[left ? 0 : 1], v);
}

/// The vectorized loop in a body of unrolled and vectorized loops; null when there is another loop.
inline const ir::loop_node* only_vectorized(const ir::stmt& s) {
  const ir::loop_node* found = nullptr;
  bool plain = true;
  ir::for_each_stmt(s, [&](const ir::stmt& x) {
    const ir::loop_node* l = ir::as_loop(x);
    if (x->kind == ir::stmt_kind::allocate || x->kind == ir::stmt_kind::if_else) plain = false;
    if (!l) return;
    if (l->loop == ir::loop_kind::vectorized) {
      plain = plain && !found;
      found = l;
    } else if (l->loop != ir::loop_kind::unrolled) {
      plain = false;
    }
  });
  return plain ? found : nullptr;
}

}  // namespace detail::transpose_parts

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
  const auto known = columns_loaded.find(key);
  if (known != columns_loaded.end()) return known->second;
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
    if (columns_loaded.emplace(each, loaded[static_cast<std::size_t>(w)]).second)
      columns_order.push_back(std::move(each));
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
        next.push_back(interleaved(out[static_cast<std::size_t>(i)],
                                   out[static_cast<std::size_t>(i + half)], first));
    out = std::move(next);
  }
  return out;
}

}  // namespace tilewright::backend::llvm
