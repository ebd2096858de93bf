// Which lanes walk along the columns of what they load.
#pragma once

#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::backend::llvm::detail::transpose_parts {

/// True for `v` plus something without `v`.
inline bool moves_with(const ir::expr& index, const ir::var& v) {
  if (index.same(v)) return true;
  if (index->op != ir::op::add) return false;
  const bool left = ir::uses_var(index->args[0], v), right = ir::uses_var(index->args[1], v);
  return left != right && moves_with(index->args[left ? 0 : 1], v);
}

/// The vectorized loop in a body of unrolled and vectorized loops; null when there is another loop.
inline const ir::loop_node* only_vectorized(const ir::stmt& s) {
  const ir::loop_node* found = nullptr;
  bool plain = true;
  ir::for_each_stmt(s, [&](const ir::stmt& x) {
    const ir::loop_node* l = ir::as_loop(x);
    if (x->kind == ir::stmt_kind::allocate || x->kind == ir::stmt_kind::if_else) plain = false;
    if (!l) return;
    if (l->loop == ir::loop_kind::vectorized) {
      plain = plain && !found;
      found = l;
    } else if (l->loop != ir::loop_kind::unrolled) {
      plain = false;
    }
  });
  return plain ? found : nullptr;
}

}  // namespace tilewright::backend::llvm::detail::transpose_parts
