// What a block needs, and whether parts of that compute the same again where they have been moved.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/path.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail {

/// Everything that the block needs, directly or not, the block itself left out; consumers before
/// producers.
inline std::vector<std::string> chain_above(const schedule& s, const std::string& output) {
  std::vector<std::string> needed{output};
  const std::vector<std::string> order = root_block_names(s);
  for (std::size_t i = 0; i < needed.size(); ++i)
    for (const std::string& p : producer_names(s, needed[i]))
      if (!support::contains(needed, p)) needed.push_back(p);
  std::vector<std::string> out;
  for (auto name = order.rbegin(); name != order.rend(); ++name)
    if (*name != output && support::contains(needed, *name)) out.push_back(*name);
  return out;
}

/// Each element of the block is computed more than twice, as the rows of a group are where the group is
/// computed for one row of the consumer after the other. Loops of data count as one iteration.
inline bool computes_groups_again(const schedule& s, const ir::block_realize_node& realize) {
  constexpr double most = 2;  // what two neighbours in a window take; tails take less
  double iterations = 1, elements = 1;
  const auto count = [](const ir::expr& extent) {
    return ir::is_int(extent) ? static_cast<double>(ir::as_int(extent)) : 1;
  };
  for (const ir::var& loop : primitive::get_loops(s.function(), realize.block->id)) {
    const ir::stmt at = primitive::find_loop(s.function(), loop).target();
    iterations *= count(ir::as_loop(at)->extent);
  }
  for (const ir::iter_var& v : realize.block->iters) elements *= count(v.dom.extent);
  return iterations > most * elements;
}

/// A loop around the block, of more than one iteration, on which nothing that it computes depends:
/// it does all of it again in every iteration. Or one on which groups of rows depend by their number.
inline bool repeats_itself(const schedule& s, const std::string& name) {
  const ir::block_realize_node& realize = named_block(s, name);
  if (computes_groups_again(s, realize)) return true;
  for (const ir::var& loop : primitive::get_loops(s.function(), realize.block->id)) {
    const auto uses = [&](const ir::expr& value) { return ir::uses_var(value, loop); };
    const ir::stmt at = primitive::find_loop(s.function(), loop).target();
    if (ir::is_int(ir::as_loop(at)->extent, 1)) continue;
    if (support::none(realize.values, uses)) return true;
  }
  return false;
}

/// Moves all of the chain into a loop of the output, the one at position `depth`, unless something would be computed again there.
/// @returns false, and changes nothing, where it would or a primitive refuses
inline bool move_all(schedule& s, const std::vector<std::string>& chain, const std::string& output,
                     std::size_t depth) {
  schedule attempt = s;
  const loop_rv at = attempt.get_loops(attempt.get_block(output))[depth];
  try {
    for (const std::string& name : chain) {
      attempt.compute_at(attempt.get_block(name), at, true);
      if (repeats_itself(attempt, name)) return false;
    }
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space::detail
