#pragma once

#include <tilewright/impl/schedule/legality/stage_order.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE int input_hazard(const block_scope& scope, std::size_t child) {
  if (!scope.schedulable() || scope[child].conditional) return 1;
  const ir::block_node& block = scope[child].block();
  bool shares = false;
  for (std::size_t w = 0; w < scope.size(); ++w) {
    if (w == child) continue;
    for (const ir::buffer_region& out : scope[w].block().writes) {
      for (const ir::buffer_region& in : block.reads) {
        if (in.buffer != out.buffer || !may_overlap(scope[w].block(), out, block, in)) continue;
        if (w > child) return 2;
        if (scope.common_loops(w, child) == 0) continue;
        if (!is_complete(scope, w) && !is_reduction(scope, w)) return 3;
        shares = true;
      }
    }
  }
  return shares && !region_covered(scope, child) ? 4 : 0;
}

TILEWRIGHT_INLINE int earlier_user(const block_scope& scope, std::size_t child) {
  const ir::block_node& block = scope[child].block();
  for (std::size_t i = 0; i < child; ++i) {
    const ir::block_node& other = scope[i].block();
    for (const ir::buffer_region& out : block.writes) {
      for (const ir::buffer_region& r : other.reads)
        if (r.buffer == out.buffer && may_overlap(other, r, block, out)) return static_cast<int>(i);
      for (const ir::buffer_region& w : other.writes)
        if (w.buffer == out.buffer && may_overlap(other, w, block, out)) return static_cast<int>(i);
    }
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
  for (std::size_t w = 0; w < child; ++w)
    for (const ir::buffer_region& out : scope[w].block().writes)
      for (const ir::buffer_region& in : c.block().reads) {
        if (in.buffer != out.buffer) continue;
        for (std::size_t l = scope.common_loops(w, child); l > inside; --l)
          if (may_overlap(scope[w].block(), out, c.block(), in) &&
              rewrites(scope, w, c.loops[l - 1]->var))
            inside = l;
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
