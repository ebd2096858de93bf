#pragma once

#include <cstddef>
#include <vector>

#include <tilewright/impl/schedule/primitive/iterations/scheduled_iteration.hpp>
#include <tilewright/schedule/primitive/iterations/sparse_fuse.hpp>

namespace tilewright::primitive {

TILEWRIGHT_INLINE new_block sparse_fuse(const ir::function& f, std::uint64_t block,
                                        const std::vector<std::int64_t>& axes) {
  detail::scheduled_iteration at(f, block, "sparse_fuse");
  ir::sparse_iteration& it = at.get();
  const refusal& refuse = at.refuse();
  const auto count = static_cast<std::int64_t>(it.iters.size());
  bool follow = axes.size() > 1 && axes.front() >= 0 && axes.back() < count;
  for (std::size_t k = 1; k < axes.size(); ++k) follow = follow && axes[k] == axes[k - 1] + 1;
  if (!follow)
    refuse(3, {"the list names no two or more axes that follow each other among the ", count,
               " of iteration \"", it.name, "\""});
  const auto first = static_cast<std::size_t>(axes.front());
  if (it.iters[first].axis->parent)
    refuse(4, {"axis \"", it.iters[first].axis->name, "\", the first one, is below \"",
               it.iters[first].axis->parent->name, "\""});
  for (std::size_t k = first; k + 1 < first + axes.size(); ++k) {
    const ir::sparse_iter& next = it.iters[k + 1];
    if (!next.axis->variable() || next.attached || !(next.axis->parent == it.iters[k].axis))
      refuse(4, {"axis \"", next.axis->name, "\" is no axis of variable extent below \"",
                 it.iters[k].axis->name, "\""});
    it.iters[k].fused = true;
  }
  return at.lowered(5);
}

}  // namespace tilewright::primitive
