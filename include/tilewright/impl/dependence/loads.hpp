// What is loaded where no region of a block says it.
#pragma once

#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/impl/dependence/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Adds all of the buffers that the expression loads from to what a block reads: where they are
/// loaded, no region says.
inline void add_loads(const ir::expr& e, std::vector<ir::buffer_region>& reads,
                      const arith::analyzer& known = {}) {
  if (!ir::reads_memory(e)) return;
  ir::for_each_expr(e, [&](const ir::expr& x) {
    if (x->buffer) arith::add_region(reads, ir::full_region(x->buffer), known);
  });
}

/// Whether the element at the indices exists.
inline bool is_inside(const ir::buffer& x, const std::vector<ir::expr>& indices,
                      const arith::analyzer& known) {
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (!known.prove_le(ir::integer(indices[d].type(), 0), indices[d]) ||
        !known.prove_lt(indices[d], x->shape[d]))
      return false;
  return true;
}

/// Whether all that the expression loads is inside of its buffer.
inline bool loads_inside(const ir::expr& e, const arith::analyzer& known) {
  return !ir::any_expr(e, [&](const ir::expr& x) {
    return x->op == ir::op::load && !is_inside(x->buffer, x->args, known);
  });
}

/// Whether the expression loads what blocks of the scope write.
inline bool loads_results(const block_scope& scope, const ir::expr& e) {
  return ir::reads_memory(e) && support::any(scope.children(), [&](const child_block& c) {
           const std::vector<ir::buffer_region>& list = c.block().writes;
           return support::any(
               list, [&](const ir::buffer_region& w) { return ir::loads_from(e, w.buffer); });
         });
}

/// Whether the guard of a block or the values of its iteration variables load the buffer.
inline bool loads_around(const ir::block_realize_node& r, const ir::buffer& x) {
  return ir::loads_from(r.predicate, x) ||
         support::any(r.values, [&](const ir::expr& value) { return ir::loads_from(value, x); });
}

/// A buffer that the bounds of the loop are loaded from and that a statement of the body writes, so
/// that it matters when they are evaluated; null if there is none.
inline ir::buffer overwritten_bound(const ir::loop_node& loop, const ir::stmt& body) {
  ir::buffer found;
  if (!bounds_load(loop)) return found;
  const auto note = [&](const ir::buffer& written) {
    if (bounds_load(loop, written)) found = written;
  };
  ir::for_each_stmt(body, [&](const ir::stmt& s) {
    if (const ir::store_node* store = ir::as_store(s)) note(store->buffer);
    if (const ir::block_realize_node* r = ir::as_realize(s))
      for (const ir::buffer_region& w : r->block->writes) note(w.buffer);
  });
  return found;
}

}  // namespace tilewright::dependence
