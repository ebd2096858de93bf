// Which sums are added up in parts, and how long a part is.
//
//   for k in range(3072): C[i, j] += A * B    ->    for p in range(12):
//                                                     for k in range(p * 256, p * 256 + 256): C[i, j] += A * B
//
// promote_accumulators begins each part anew and adds it to C behind it. Of n numbers that are added one
// after another, each addition rounds the sum so far: the bound of what is lost grows with n, and in parts
// of s with s + n / s.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <tilewright/impl/pass/accumulators/tile.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::promote {

/// A part of fewer additions is not worth its way through memory.
inline constexpr std::int64_t least_part = 16;

/// Additions that are not taken apart where parts have so many: two parts would be shorter than what one
/// may be.
inline std::int64_t longest_whole(std::int64_t part) { return part + part / 2; }

/// The iterations may be reassociated, and nobody asks for one result.
inline bool has_free_order(const loop_node& loop) {
  return is_reduction(loop) && !asks_for_order(loop.annotations);
}

/// Whether a store adds to its element what does not load from the same buffer.
inline bool adds_to_own(const store_node& store) {
  const expr& sum = store.value;
  if (sum->op != op::add) return false;
  const auto is_old = [&](const expr& e) {
    return e->op == op::load && e->buffer == store.buffer && same_indices(e->args, store.indices);
  };
  const expr &first = sum->args[0], &second = sum->args[1];
  return (is_old(first) && !loads_from(second, store.buffer)) ||
         (is_old(second) && !loads_from(first, store.buffer));
}

/// Whether the loop adds to elements of `b` in one place, and updates nothing else, unless in the same way,
/// by what does not need these sums, as steps of one reduction of tuples.
inline bool only_adds_to(const buffer& b, const loop_node& loop) {
  const buffer_set stored = stored_buffers(loop.body);
  std::vector<const store_node*> sums;
  bool only = true;
  for_each_stmt(loop.body, [&](const stmt& s) {
    if (const let_node* let = as_let(s))
      for (const buffer& each : stored) only = only && !loads_from(let->value, each);
    const store_node* store = as_store(s);
    if (!store) return;
    if (adds_to_own(*store))
      sums.push_back(store);
    else
      only = only && store->buffer != b && !loads_from(store->value, store->buffer);
  });
  int own = 0;
  only = only && (sums.size() < 2 || loop.annotations.count(reducer_note) != 0);
  for (const store_node* sum : sums) {
    own += sum->buffer == b ? 1 : 0;
    for (const store_node* other : sums)
      only = only && (other == sum ||
                      (other->buffer != sum->buffer && !loads_from(other->value, sum->buffer)));
  }
  return only && own == 1;
}

/// How often one iteration of the loop adds to an element of a tile of `b`, which `tile_loops` run through;
/// 0 where it does not add as the steps of a declared sum in f32, in any order, or how often is not known.
inline std::int64_t additions_of(const loop_node& loop, const buffer& b,
                                 const access_summary& access,
                                 const std::vector<const loop_node*>& tile_loops) {
  if (b->type != dtype::f32 || !has_free_order(loop) || !only_adds_to(b, loop)) return 0;
  std::int64_t out = 1;
  for (const loop_node* l : access.loops) {
    if (support::contains(tile_loops, l)) continue;
    if (!has_free_order(*l)) return 0;
    out *= std::max<std::int64_t>(constant_extent(*l), 0);
  }
  return out;
}

/// Iterations of `additions` each that make a part of about `part` additions. They divide the extent where
/// parts come out half as long to half as long again, and also elsewhere if they have to; 0: there are no
/// such.
inline std::int64_t iterations_of_part(std::int64_t extent, std::int64_t additions,
                                       std::int64_t part, bool has_to_divide) {
  const std::int64_t most =
      std::min(extent, std::max<std::int64_t>(longest_whole(part) / additions, 1));
  std::int64_t best = 0;
  for (std::int64_t n = 1; n <= most; ++n)
    if (extent % n == 0 && std::abs(n * additions - part) <= std::abs(best * additions - part))
      best = n;
  if (2 * best * additions >= part) return best;
  if (!has_to_divide) return std::max<std::int64_t>(part / additions, 1);
  return best * additions >= least_part ? best : 0;
}

}  // namespace tilewright::pass::detail::promote
