#pragma once

#include <string>

#include <tilewright/impl/schedule/legality/refusal.hpp>
#include <tilewright/schedule/primitive/blocks/reorder_block_iter_var.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE ir::function reorder_block_iter_var(const ir::function& f, std::uint64_t block,
                                                      const std::vector<std::int64_t>& new_order) {
  const path at = need_block(f, block, "reorder_block_iter_var");
  const ir::block_realize_node& old = *ir::as_realize(at.target());
  const std::size_t count = old.block->iters.size();
  std::vector<char> seen(count, 0);
  bool permutation = new_order.size() == count;
  for (const std::int64_t i : new_order)
    permutation = permutation && i >= 0 && i < static_cast<std::int64_t>(count) &&
                  seen[static_cast<std::size_t>(i)]++ == 0;
  if (!permutation)
    refusal{"reorder_block_iter_var"}(1, {"the order is no permutation of the ", count,
                                          " iteration variables of ", quoted(*old.block)});
  ir::block_node changed = *old.block;
  std::vector<ir::expr> values = old.values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(new_order[i]);
    changed.iters[i] = old.block->iters[from];
    values[i] = old.values[from];
  }
  return replace(
      f, at,
      ir::make_realize(std::move(values), old.predicate, ir::make_block(std::move(changed))));
}

}  // namespace tilewright::primitive
