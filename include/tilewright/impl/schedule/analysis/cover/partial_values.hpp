// Values that further iterations change, and blocks that may see them.
#pragma once

#include <algorithm>

#include <tilewright/impl/schedule/analysis/cover/footprint.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// Whether further iterations of the first `depth` loops around a producer change what it has written.
inline bool goes_on(const block_scope& scope, std::size_t producer, std::size_t depth) {
  const child_block& p = scope[producer];
  if (!reduction_done(p, {depth, {}})) return true;
  return std::any_of(p.loops.begin(), p.loops.begin() + static_cast<std::ptrdiff_t>(depth),
                     [&](const ir::loop_node* l) { return rewrites(scope, producer, l->var); });
}

/// Whether data decide where or whether a statement stores, so that values which are not final leave
/// traces.
inline bool stores_follow_data(const ir::stmt& body) {
  const auto loads = [](const auto& list) { return support::any(list, ir::reads_memory); };
  bool found = false;
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::if_node* n = ir::as_if(s)) found |= ir::reads_memory(n->condition);
    if (const ir::store_node* n = ir::as_store(s)) found |= loads(n->indices);
    if (const ir::loop_node* n = ir::as_loop(s))
      found |= ir::reads_memory(n->min) || ir::reads_memory(n->extent);
    if (const ir::block_realize_node* n = ir::as_realize(s))
      found |= ir::reads_memory(n->predicate) || loads(n->values);
    found |= ir::as_while(s) != nullptr;
  });
  return found;
}

/// Whether the block may also run while what it reads is not final, because its last run decides:
/// it is complete, and no value decides what it stores to, whether it stores, or leads to an integer
/// division by zero.
inline bool may_read_unfinished(const block_scope& scope, std::size_t child) {
  if (!is_complete(scope, child)) return false;
  const ir::stmt& body = scope[child].block().body;
  if (stores_follow_data(body)) return false;
  bool harmless = true;
  ir::for_each_expr(body, [&](const ir::expr& e) {
    const bool divides = e->op == ir::op::floordiv || e->op == ir::op::floormod ||
                         e->op == ir::op::div || e->op == ir::op::mod;
    if (divides && !is_float(e.type()) && !ir::is_int(e->args[1])) harmless = false;
    if (e->op == ir::op::load) harmless &= support::none(e->args, ir::reads_memory);
  });
  return harmless;
}

}  // namespace tilewright::primitive::detail
