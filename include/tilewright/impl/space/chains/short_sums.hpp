// Short sums of short sums, such as x P z of a few numbers: the inner ones stay in registers, a result in each lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The inner sum of a chain, and which of its variables is the outer one's lane.
struct inner_sum {
  std::string name;
  std::size_t lane = 0;
};

/// The sum that the block alone reads, one element of it in each of its iterations, where both have few terms and results
/// that fill vectors.
inline std::optional<inner_sum> inner_sum_of(const schedule& s, const std::string& name,
                                             const context& where) {
  constexpr std::int64_t few = 16, few_of_both = 64;
  const std::optional<block_profile> outer = profile(s, name);
  if (!outer || !outer->reduction || outer->in_order || outer->terms() < 2 || outer->terms() > few)
    return std::nullopt;
  const std::optional<std::size_t> lane = outer->contiguous();
  if (!lane || outer->extent[*lane] < where.cpu->lanes(outer->write.buffer->type))
    return std::nullopt;
  for (const std::string& producer : producer_names(s, name)) {
    const std::optional<block_profile> inner = profile(s, producer);
    if (!inner || !inner->reduction || is_output(s, producer) ||
        consumer_names(s, producer) != std::vector<std::string>{name} || inner->terms() > few ||
        outer->terms() * inner->terms() > few_of_both ||
        inner->instances() != support::saturated_product(outer->instances(), inner->terms()))
      continue;
    const auto same =
        std::find_if(outer->reads.begin(), outer->reads.end(),
                     [&](const access_profile& r) { return r.buffer == inner->write.buffer; });
    if (same == outer->reads.end() || !same->affine) continue;
    for (std::size_t i = 0; i < inner->kind.size(); ++i)
      if (inner->kind[i] == ir::iter_kind::spatial && inner->extent[i] == outer->extent[*lane] &&
          inner->write.stride[i] == same->stride[*lane])
        return inner_sum{producer, i};
  }
  return std::nullopt;
}

/// ```
/// for n, r, s: I[n, r] += P[r, s] * Z[n, s]
/// for n, r: Y[n] += X[n, r] * I[n, r]
///   ->
/// for n (parallel), r (unrolled):
///   for s (unrolled), lanes (vectorized): I[..] += P[r, s] * Z[.., s]
///   for lanes (vectorized): Y[..] += X[.., r] * I[..]
/// ```
/// A structural choice, the first one: 65,536 sums of 6 x 6 terms take 45 us so, 96 us as two nests.
/// @returns the blocks that were decided; none where it was not taken, or a primitive refuses
inline std::vector<std::string> sum_in_lanes(schedule& s, const std::string& name,
                                             const context& where, chooser& choices) {
  const std::optional<inner_sum> inner = inner_sum_of(s, name, where);
  if (!inner || choices.pick(2) == 1) return {};
  const block_profile outer = *profile(s, name);
  const std::size_t lane = *outer.contiguous();
  const block_rv y = s.get_block(name), x = s.get_block(inner->name);
  const std::vector<loop_rv> loops = s.get_loops(y);
  const auto lanes = s.split(loops[lane], {infer, where.cpu->lanes(outer.write.buffer->type)});
  std::vector<loop_rv> order, terms;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (outer.kind[i] == ir::iter_kind::reduce)
      terms.push_back(loops[i]);
    else
      order.push_back(i == lane ? lanes[0] : loops[i]);
  order.insert(order.end(), terms.begin(), terms.end());
  order.push_back(lanes[1]);
  s.reorder(order);
  s.compute_at(x, terms.back(), true);
  std::vector<loop_rv> own = s.get_loops(x);
  own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(order.size() - 1));
  std::rotate(own.begin() + static_cast<std::ptrdiff_t>(inner->lane),
              own.begin() + static_cast<std::ptrdiff_t>(inner->lane) + 1, own.end());
  s.reorder(own);
  s.vectorize(own.back());
  for (std::size_t i = 0; i + 1 < own.size(); ++i) s.unroll(own[i]);
  s.vectorize(lanes[1]);
  for (const loop_rv& l : terms) s.unroll(l);
  if (own.size() > 1) s.decompose_reduction(x, own.front());
  s.decompose_reduction(y, terms.front());
  return {name, inner->name};
}

}  // namespace tilewright::space::detail
