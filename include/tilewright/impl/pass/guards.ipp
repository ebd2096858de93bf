#pragma once

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass {

TILEWRIGHT_INLINE std::optional<arith::linear> as_nonpositive(const ir::expr& condition) {
  using ir::op;
  const op o = condition->op;
  if (o != op::lt && o != op::le && o != op::gt && o != op::ge) return std::nullopt;
  const ir::expr &a = condition->args[0], &b = condition->args[1];
  if (!arith::is_index(a.type())) return std::nullopt;
  arith::linear out = arith::to_linear(o == op::lt || o == op::le ? a - b : b - a);
  if (o == op::lt || o == op::gt) ++out.constant;
  return out;
}

TILEWRIGHT_INLINE bool is_reduction(const ir::loop_node& loop) {
  return loop.annotations.count(reduction_note) != 0;
}

TILEWRIGHT_INLINE bool is_tile_loop(const ir::loop_node& loop, bool inside_reduction) {
  const std::int64_t extent = constant_extent(loop);
  if (extent <= 0 || !ir::is_int(loop.min)) return false;
  if (loop.loop == ir::loop_kind::unrolled || loop.loop == ir::loop_kind::vectorized) return true;
  if (loop.loop != ir::loop_kind::serial || !inside_reduction || is_reduction(loop) || extent > 16)
    return false;
  bool innermost = true;
  ir::for_each_stmt(loop.body, [&](const ir::stmt& s) {
    const ir::loop_node* inner = ir::as_loop(s);
    if (!inner) return;
    const bool stays = inner->loop == ir::loop_kind::parallel || is_reduction(*inner) ||
                       constant_extent(*inner) <= 0 ||
                       (inner->loop == ir::loop_kind::serial && constant_extent(*inner) > 16);
    innermost = innermost && !stays;
  });
  return innermost;
}

}  // namespace tilewright::pass
