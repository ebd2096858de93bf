#pragma once

#include <tilewright/ir/storage_scope.hpp>

namespace tilewright::ir {

TILEWRIGHT_INLINE int storage_rank(std::string_view scope) {
  if (scope == "global" || scope.empty()) return 0;
  if (scope == "shared" || scope == "shared.dyn") return 1;
  if (scope == "warp") return 2;
  if (scope == "local" || scope == "wmma.matrix_a" || scope == "wmma.matrix_b" ||
      scope == "wmma.accumulator" || scope == "m16n8k8.matrixA" || scope == "m16n8k8.matrixB" ||
      scope == "m16n8k8.matrixC")
    return 3;
  return -1;
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
