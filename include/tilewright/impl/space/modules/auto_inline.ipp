#pragma once

#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/impl/space/tiles/tile_conditions.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/auto_inline.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail::inlining {

inline bool has_costly_call(const ir::block_node& block, const auto_inline& rule) {
  bool found = false;
  ir::for_each_expr(block.body, [&](const ir::expr& e) {
    if (e->op != ir::op::call) return;
    found = found || !rule.calls || support::contains(rule.costly, e->name);
  });
  return found;
}

inline bool worth_repeating(const ir::block_node& block, const auto_inline& rule) {
  if (has_costly_call(block, rule)) return false;
  if (!rule.conditionals && detail::has_condition(block)) return false;
  if (!rule.injective_reads && !rule.ordered_reads) return true;
  const read_pattern reads = pattern_of_reads(block);
  return (!rule.injective_reads || reads.injective) && (!rule.ordered_reads || reads.ordered);
}

inline bool is_disabled(const ir::block_node& block) {
  const auto note = block.annotations.find("meta_schedule.inline_rule");
  return note != block.annotations.end() && note->second == ir::attr("disable");
}

/// A copy in memory of a block or of a thread, which inlining would undo.
inline bool is_staged(const ir::block_node& block) {
  return ir::storage_rank(block.writes[0].buffer->scope) > 0;
}

/// Does it where it is legal.
inline bool try_inline(schedule& s, const std::string& name,
                       void (schedule::*primitive)(block_rv)) {
  try {
    schedule attempt = s;
    (attempt.*primitive)(attempt.get_block(name));
    s = std::move(attempt);
    return true;
  } catch (const schedule_error&) {
    return false;  // the block stays: inlining is an offer, not a need
  }
}

/// The only block that writes what the block reads can take it.
inline bool has_open_producer(const schedule& s, const std::string& name) {
  const std::vector<std::string> producers = producer_names(s, name);
  if (producers.size() != 1) return false;
  const ir::block_node& producer = *named_block(s, producers[0]).block;
  const primitive::block_scope scope(*ir::root_block(s.function()));
  const int child = scope.find(producer.id);
  return child >= 0 && primitive::is_complete(scope, static_cast<std::size_t>(child)) &&
         producer.annotations.count("meta_schedule.auto_tensorize") == 0;
}

}  // namespace detail::inlining

TILEWRIGHT_INLINE void auto_inline::operator()(schedule& s, const std::string& name,
                                               const context& /*where*/,
                                               chooser& /*choices*/) const {
  namespace inlining = detail::inlining;
  if (!has_block(s, name)) return;
  if (ir::keeps_term_order(s.function()) && ir::has_narrow_results(s.function())) return;
  const ir::block block = named_block(s, name).block;
  if (block->init || block->writes.size() != 1 || inlining::is_disabled(*block) ||
      inlining::is_staged(*block))
    return;
  const bool kept = is_output(s, name);
  if (constant_tensors && !kept && block->reads.empty() &&
      inlining::try_inline(s, name, &schedule::compute_inline))
    return;
  if (!(all_if_spatial && is_spatial(s.function())) && !inlining::worth_repeating(*block, *this))
    return;
  if (into_consumers && !kept && inlining::try_inline(s, name, &schedule::compute_inline)) return;
  if (into_producer && inlining::has_open_producer(s, name))
    inlining::try_inline(s, name, &schedule::reverse_compute_inline);
}

}  // namespace tilewright::space
