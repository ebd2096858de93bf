// What a refusal says of the block that a step acts on.
#pragma once

#include <string>

#include <tilewright/space/expression.hpp>
#include <tilewright/space/root_blocks.hpp>

namespace tilewright::space::detail {

/// "its loops are i, j, k", of the block at hand.
inline std::string loops_text(schedule& s, const scope& in) {
  std::string names;
  for (const loop_rv loop : s.get_loops(in.get_block(s)))
    names += (names.empty() ? "" : ", ") + s.get(loop).var->name;
  return names.empty() ? "it has no loops" : "its loops are " + names;
}

/// "Block at hand is C; its loops are i, j, k".
inline std::string at_hand_text(schedule& s, const scope& in) {
  if (!in.exists(s, in.block)) {
    std::string known;
    for (const std::string& name : root_block_names(s)) known += (known.empty() ? "" : ", ") + name;
    return "No block is called " + in.block + "; there are " + known;
  }
  return "Block at hand is " + in.block + "; " + loops_text(s, in);
}

}  // namespace tilewright::space::detail
