// Values that further iterations change, and blocks that may see them.
#pragma once

#include <tilewright/impl/dependence/cover/footprint.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Whether further iterations of the first `depth` loops around a producer change what it has written.
inline bool goes_on(const block_scope& scope, std::size_t producer, std::size_t depth) {
  const child_block& p = scope[producer];
  if (!reduction_done(p, {depth, {}})) return true;
  for (std::size_t l = 0; l < depth; ++l)
    if (rewrites(scope, producer, p.loops[l]->var)) return true;
  return false;
}

/// Whether data decide where or whether a statement stores, so that values which are not final leave
/// traces.
inline bool stores_follow_data(const ir::stmt& body) {
  const auto loads = [](const auto& list) { return support::any(list, ir::reads_memory); };
  return ir::any_stmt(body, [&](const ir::stmt& s) {
    if (const ir::if_node* n = ir::as_if(s)) return ir::reads_memory(n->condition);
    if (const ir::store_node* n = ir::as_store(s)) return loads(n->indices);
    if (const ir::loop_node* n = ir::as_loop(s)) return bounds_load(*n);
    if (const ir::block_realize_node* n = ir::as_realize(s))
      return ir::reads_memory(n->predicate) || loads(n->values);
    return ir::as_while(s) != nullptr;
  });
}

/// An integer division by what is no number.
inline bool may_divide_by_zero(const ir::expr& e) {
  const bool divides = e->op == ir::op::floordiv || e->op == ir::op::floormod ||
                       e->op == ir::op::div || e->op == ir::op::mod;
  return divides && !is_float(e.type()) && !ir::is_int(e->args[1]);
}

/// Whether the block may also run while what it reads is not final, because its last run decides:
/// it is complete, and no value decides what it stores to, whether it stores, or leads to an integer
/// division by zero.
inline bool may_read_partial_values(const block_scope& scope, std::size_t child) {
  if (!is_complete(scope, child)) return false;
  const ir::stmt& body = scope[child].block().body;
  return !stores_follow_data(body) && !ir::any_expr(body, [](const ir::expr& e) {
    return may_divide_by_zero(e) ||
           (e->op == ir::op::load && support::any(e->args, ir::reads_memory));
  });
}

}  // namespace tilewright::dependence
