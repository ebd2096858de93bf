// Sums of which a few results lie side by side and share a row that nothing else reads, such as both parts of a complex
// matrix times a vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/space/tiles/short_columns.hpp>
#include <tilewright/impl/space/tiles/stageable_operands.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The variable of the few results, where vectors along the sum cost less than vectors along the results, which fill few of the lanes.
/// Vectors along other results would need a transposed copy of an operand; each element of that operand serves the few results alone,
/// and copying it takes as long as loading it `few` times.
inline std::optional<std::size_t> few_results(const ir::block_node& b, const block_profile& p,
                                              const context& where) {
  constexpr std::int64_t few = 4;
  const std::optional<std::size_t> results = p.contiguous();
  const std::size_t summed = p.kind.size() - 1;
  const std::int64_t lanes = where.cpu->lanes(p.write.buffer->type);
  if (!p.reduction || p.in_order || !results || p.extent[*results] > few ||
      p.kind[summed] != ir::iter_kind::reduce || p.extent[summed] < lanes)
    return std::nullopt;
  const auto cost = [&](std::size_t along) {
    return vector_load_cost(p.reads, along, p.extent[along], lanes, arithmetic_of(b));
  };
  const auto serves_few = [&](const access_profile& read) {
    return support::saturated_product(p.extent[*results], ir::elements_of(read.buffer, 0)) >=
           p.instances();
  };
  // an operand whose elements would be gathered along the sum may lie side by side along other results
  const auto near = [&](const access_profile& read) { return loads_spread(read, summed); };
  const bool suits = cost(summed) < cost(*results) && support::all(p.reads, near) &&
                     support::any(p.reads, serves_few);
  return suits ? results : std::nullopt;
}

/// Whether the block had better sum few results in vectors along the sum, its operands as they lie. Instructions for dot products
/// take an operand of which each element serves these results alone, and which a call would lay out anew unless it is bound: 12
/// products of 253 x 31 bytes by two columns take 14 us by such instructions and 4.5 us as operands lie.
inline bool sums_as_operands_lie(const schedule& s, const std::string& name, const context& where) {
  const std::optional<block_profile> p = profile(s, name);
  const ir::block_node& b = *named_block(s, name).block;
  return p && few_results(b, *p, where) &&
         !any_bound(s, b, stageable_operands(s, *p, [](const access_profile&) { return true; }));
}

/// How many of the results are summed at a time, in vectors along the sum: the results of some rows, which share the operand that
/// all rows are multiplied by; two rows stand first, since hardware expects memory to be read that way. Empty
/// where the results of a row are no power of two.
inline std::vector<std::int64_t> results_at_once(const block_profile& p, std::size_t results,
                                                 std::size_t rows, std::int64_t lanes) {
  const std::int64_t of_row = p.extent[results], size = bytes(p.write.buffer->type);
  std::vector<std::int64_t> out;
  if ((of_row & (of_row - 1)) != 0 || size < 4) return out;
  for (std::int64_t n = 2 * of_row; n <= std::min(lanes, of_row * p.extent[rows]); n *= 2)
    if (n * size >= least_shuffled_bytes) out.push_back(n);
  return out;
}

/// Makes the sums of the few results in vectors, so that the operand that they share is loaded and shuffled once:
/// ```
/// i, c, k  ->  i and c (some sums at a time) | k
/// ```
/// or, where there are no rows of them, each a sum of its own:
/// ```
/// i, c, k  ->  i (parallel) | c (unrolled) | k
/// ```
/// A structural choice, the first one where the block has few results.
/// @returns whether the choice was taken; then nothing else of the block is to be decided
inline bool sum_few_results(schedule& s, const std::string& name, const context& where,
                            chooser& choices) {
  const std::optional<block_profile> p = profile(s, name);
  const std::optional<std::size_t> results =
      p ? few_results(*named_block(s, name).block, *p, where) : std::nullopt;
  if (!results || choices.pick(2) == 1) return false;
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const std::int64_t lanes = where.cpu->lanes(p->write.buffer->type);
  const std::optional<std::size_t> rows = beside_columns(*p, p->extent[*results]);
  const std::vector<std::int64_t> counts =
      rows ? results_at_once(*p, *results, *rows, lanes) : std::vector<std::int64_t>{};
  if (counts.empty()) {
    s.unroll(loops[*results]);
    return true;
  }
  std::vector<loop_rv> order, summed;
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (p->kind[i] == ir::iter_kind::reduce)
      summed.push_back(loops[i]);
    else if (i != *rows && i != *results)
      order.push_back(loops[i]);
  const bool alone = order.empty();
  order.push_back(loops[*rows]);
  order.push_back(loops[*results]);
  order.insert(order.end(), summed.begin(), summed.end());
  s.reorder(order);
  loop_rv results_of_rows = s.fuse(loops[*rows], loops[*results]);
  if (where.threads > 1 && alone) {
    constexpr std::int64_t terms_of_task = 1 << 16;  // some microseconds of work
    const std::int64_t vectors = terms_of_task / (lanes * p->terms());
    results_of_rows =
        s.split(results_of_rows, {infer, lanes * std::max<std::int64_t>(vectors, 1)})[1];
  }
  std::vector<double> weights(counts.size(), 1);
  weights.front() = 2;
  s.annotate(results_of_rows, ir::sums_together_note, choices.categorical(s, counts, weights));
  return true;
}

}  // namespace tilewright::space::detail
