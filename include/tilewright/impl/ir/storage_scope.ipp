#pragma once

#include <tilewright/ir/storage_scope.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE int storage_rank(std::string_view scope) {
  if (scope.empty() || scope.starts_with("global")) return 0;
  if (scope.starts_with("shared")) return 1;
  if (scope.starts_with("local")) return 3;
  if (scope.starts_with("warp")) return 2;
  for (const std::string_view own :
       {"wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator", "wmma.rows", "wgmma.accumulator",
        "m16n8k8.matrixA", "m16n8k8.matrixB", "m16n8k8.matrixC"})
    if (scope.starts_with(own)) return 3;
  return -1;
}

TILEWRIGHT_INLINE std::string no_scope(std::string_view scope) {
  if (!scope.empty() && storage_rank(scope) >= 0) return {};
  return "there is no storage scope \"" + std::string(scope) +
         "\"; choose global, local, shared, shared.dyn or warp";
}

TILEWRIGHT_INLINE bool shared_across(std::string_view storage_scope, std::string_view thread_tag) {
  const int rank = storage_rank(storage_scope);
  if (rank == 2) return thread_tag == "threadIdx.x";
  return rank <= (thread_tag.starts_with("blockIdx") ? 0 : 1);
}

TILEWRIGHT_INLINE bool shared_across(std::string_view storage_scope, const loop_node& loop) {
  return loop.loop == loop_kind::thread_binding && shared_across(storage_scope, loop.thread_tag);
}

}  // namespace tilewright::ir
