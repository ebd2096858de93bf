#pragma once

#include <tilewright/impl/schedule/legality/stage_order.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE int input_hazard(const block_scope& scope, std::size_t child) {
  if (!scope.schedulable() || scope[child].conditional) return 1;
  const ir::block_node& block = scope[child].block();
  bool shares = false;
  for (std::size_t w = 0; w < scope.size(); ++w) {
    const ir::block_node& writer = scope[w].block();
    if (w == child || !meet_anywhere(writer, writer.writes, block, block.reads)) continue;
    if (w > child) return 2;
    if (scope.common_loops(w, child) == 0) continue;
    if (!is_complete(scope, w) && !is_reduction(scope, w)) return 3;
    shares = true;
  }
  return shares && !region_covered(scope, child) ? 4 : 0;
}

TILEWRIGHT_INLINE int earlier_user(const block_scope& scope, std::size_t child) {
  const ir::block_node& block = scope[child].block();
  for (std::size_t i = 0; i < child; ++i) {
    const ir::block_node& other = scope[i].block();
    if (meet_anywhere(other, other.reads, block, block.writes) ||
        meet_anywhere(other, other.writes, block, block.writes))
      return static_cast<int>(i);
  }
  return -1;
}

TILEWRIGHT_INLINE int early_reader(const block_scope& scope, std::size_t child) {
  const ir::block_node& block = scope[child].block();
  for (const std::size_t r : readers(scope, child))
    for (const ir::buffer_region& out : block.writes)
      if (r > child && scope.common_loops(r, child) > 0 && !region_covered(scope, r, out.buffer))
        return static_cast<int>(r);
  return -1;
}

TILEWRIGHT_INLINE int late_reader(const block_scope& scope, std::size_t child) {
  const child_block& c = scope[child];
  std::size_t inside = 0;  // a reader shares this many loops at least
  for (std::size_t w = 0; w < child; ++w) {
    if (!meet_anywhere(scope[w].block(), scope[w].block().writes, c.block(), c.block().reads))
      continue;
    for (std::size_t l = scope.common_loops(w, child); l > inside; --l)
      if (rewrites(scope, w, c.loops[l - 1]->var)) inside = l;
  }
  if (inside == 0) return -1;
  for (const std::size_t r : readers(scope, child))
    for (const ir::buffer_region& result : c.block().writes)
      if (scope.common_loops(child, r) < inside || !region_covered(scope, r, result.buffer))
        return static_cast<int>(r);
  return -1;
}

TILEWRIGHT_INLINE const char* hazard_text(int hazard) {
  switch (hazard) {
    case 1: return "its scope holds statements that are not blocks, or it stands below a condition";
    case 2: return "a later block overwrites what it reads";
    case 3: return "a block in a common loop still changes what it reads";
    case 4: return "it reads what earlier iterations of a common loop wrote";
    default: return "";
  }
}

}  // namespace tilewright::primitive
