// What one kernel may do to memory that its blocks add to atomically.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/unify_threads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::pass::detail::barriers {

using namespace tilewright::ir;

/// Indices of all accesses to one buffer in a kernel: those of additions, and the others.
struct accesses_to {
  std::vector<const std::vector<expr>*> additions, others;

  accesses_to(const buffer& to, const stmt& kernel) {
    std::vector<const expr_node*> old;
    std::vector<const store_node*> adds;
    for_each_stmt(kernel, [&](const stmt& s) {
      const attribute_node* n = as_attribute(s);
      const store_node* store = n && n->key == atomic_note ? only_addition(n->body) : nullptr;
      if (!store || store->buffer != to) return;
      adds.push_back(store);
      additions.push_back(&store->indices);
      for_each_expr(store->value, [&](const expr& e) {
        if (e->op == op::load && e->buffer == to) old.push_back(e.get());
      });
    });
    for_each_stmt(kernel, [&](const stmt& s) {
      const store_node* store = as_store(s);
      if (store && store->buffer == to && !support::contains(adds, store))
        others.push_back(&store->indices);
    });
    for_each_expr(kernel, [&](const expr& e) {
      if (e->op == op::load && e->buffer == to && !support::contains(old, e.get()))
        others.push_back(&e->args);
    });
  }
};

/// Whether some dimension of both accesses follows the axis alike, as that of elements does which a block has for itself.
inline bool told_apart(const std::vector<expr>& a, const std::vector<expr>& b, const var& axis) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    const std::int64_t step = arith::to_linear(a[d]).coefficient(axis);
    if (step != 0 && arith::to_linear(b[d]).coefficient(axis) == step) return true;
  }
  return false;
}

/// Blocks of threads do not wait for each other: what one initializes or reads, another one may add to at any time.
/// @throws build_error where a kernel does both, and its blocks may meet
inline void check_block_additions(const kernel_nest& nest, const stmt& kernel) {
  buffer_set targets;
  for_each_stmt(kernel, [&](const stmt& s) {
    const attribute_node* n = as_attribute(s);
    const store_node* store = n && n->key == atomic_note ? only_addition(n->body) : nullptr;
    if (store && storage_rank(store->buffer->scope) == 0) targets.insert(store->buffer);
  });
  for (const buffer& to : targets) {
    const accesses_to all(to, kernel);
    for (const std::vector<expr>* one : all.additions)
      for (const std::vector<expr>* other : all.others)
        for (const loop_node* axis : nest.blocks)
          if (!is_int(axis->extent, 1) && !told_apart(*one, *other, axis->var))
            throw build_error(
                "blocks of threads add to " + to->name +
                " atomically, and one kernel initializes or reads it as well; blocks do not "
                "wait for each other, so that this needs a nest of its own");
  }
}

}  // namespace tilewright::pass::detail::barriers
