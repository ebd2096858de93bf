// The barrier of a block's threads, as a statement.
#pragma once

#include <tilewright/ir/stmt.hpp>

namespace tilewright::pass::detail {

inline ir::stmt barrier() {
  return ir::make_evaluate(ir::call(dtype::i32, "tvm_storage_sync", {ir::text("shared")}));
}

inline bool is_barrier(const ir::stmt& s) {
  const ir::evaluate_node* n = ir::as_evaluate(s);
  return n && n->value->op == ir::op::call && n->value->name == "tvm_storage_sync";
}

}  // namespace tilewright::pass::detail
