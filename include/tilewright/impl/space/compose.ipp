#pragma once

#include <algorithm>

#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/compose.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::space {
namespace detail {

inline bool wants_no_rule(const ir::block_node& block) {
  const auto note = block.annotations.find("schedule_rule");
  return note != block.annotations.end() && note->second == ir::attr("None");
}

inline void visit_blocks(const ir::block_node& of, std::vector<std::string>& out) {
  const std::vector<const ir::block_realize_node*> inside = primitive::child_blocks(of.body);
  for (auto child = inside.rbegin(); child != inside.rend(); ++child) {
    visit_blocks(*(*child)->block, out);
    if (!wants_no_rule(*(*child)->block)) out.push_back((*child)->block->name);
  }
}

TILEWRIGHT_INLINE bool target_is(const context& where, std::string_view name) {
  return where.cpu && (where.cpu->name == name || where.cpu->has(name));
}

TILEWRIGHT_INLINE void run_as_whole(schedule& s, scope& in,
                                    support::function_ref<void(schedule&, scope&)> step) {
  schedule trial = s;
  scope inner = in;
  try {
    step(trial, inner);
  } catch (const schedule_error&) {
    return;
  }
  s = std::move(trial);
  in = std::move(inner);
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<std::string> blocks_in_post_order(const schedule& s) {
  std::vector<std::string> out;
  detail::visit_blocks(*ir::root_block(s.function()), out);
  return out;
}

}  // namespace tilewright::space
