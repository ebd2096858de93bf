// Sums of which a few results lie side by side and share a row that nothing else reads, such as both parts of a complex
// matrix times a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/space/block_profile.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/checked.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space::detail {

/// The variable of these results: fewer than lanes, while vectors along the sum load what lies a few elements apart. Vectors
/// along other results would need a transposed copy of an operand each of whose elements serves these few alone.
inline std::optional<std::size_t> few_results(const block_profile& p, const context& where) {
  constexpr std::int64_t few = 4;
  const std::optional<std::size_t> results = p.contiguous();
  const std::size_t summed = p.kind.size() - 1;
  if (!p.reduction || p.in_order || !results || p.extent[*results] > few ||
      p.kind[summed] != ir::iter_kind::reduce ||
      p.extent[summed] < where.cpu->lanes(p.write.buffer->type))
    return std::nullopt;
  const auto near = [&](const access_profile& read) { return loads_spread(read, summed); };
  const auto serves_few = [&](const access_profile& read) {
    return support::saturated_product(p.extent[*results], ir::elements_of(read.buffer, 0)) >=
           p.instances();
  };
  const bool suits = support::all(p.reads, near) && support::any(p.reads, serves_few);
  return suits ? results : std::nullopt;
}

/// Writes these results out, so that each is a sum in vectors of its own:
/// ```
/// i, c, k  ->  i (parallel) | c (unrolled) | k
/// ```
/// A structural choice, the first one where it suits the block.
/// @returns whether it was taken; then nothing else of the block is to be decided
inline bool sum_few_results(schedule& s, const std::string& name, const context& where,
                            chooser& choices) {
  const std::optional<block_profile> p = profile(s, name);
  const std::optional<std::size_t> results = p ? few_results(*p, where) : std::nullopt;
  if (!results || choices.pick(2) == 1) return false;
  s.unroll(s.get_loops(s.get_block(name))[*results]);
  return true;
}

}  // namespace tilewright::space::detail
