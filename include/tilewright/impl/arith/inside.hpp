// What holds inside of a statement, for walks that know it.
#pragma once

#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith::detail {

/// Whether the statement may store to what the expression loads.
inline bool changes(const ir::stmt& s, const ir::expr& e) {
  if (!s || !ir::reads_memory(e)) return false;
  bool found = false;
  const auto see = [&](const ir::buffer& b) { found = found || ir::loads_from(e, b); };
  ir::for_each_stmt(s, [&](const ir::stmt& x) {
    if (const ir::store_node* store = ir::as_store(x)) see(store->buffer);
    if (const ir::block_realize_node* r = ir::as_realize(x))
      for (const ir::match_buffer& m : r->block->match_buffers) see(m.source.buffer);
  });
  ir::for_each_expr(s, [&](const ir::expr& x) {
    if (x->op == ir::op::data) see(x->buffer);
  });
  return found;
}

/// While it lives, `known` is that of the inside of a loop, of a block or of a branch; behind, what it
/// was in front: there a loop may have had no iterations, and the condition need not hold. What is said
/// of elements that the inside stores to does not hold throughout.
class inside {
 public:
  inside(analyzer& known, const ir::loop_node& loop) : inside(known) {
    bind(loop.var, {loop.min, loop.extent}, loop.body);
  }
  inside(analyzer& known, const ir::block_node& block) : inside(known) {
    for (const ir::iter_var& v : block.iters)
      if (!changes_in(v.dom, block.init)) bind(v.var, v.dom, block.body);
  }
  inside(analyzer& known, const ir::expr& condition, const ir::stmt& branch) : inside(known) {
    for (const ir::expr& part : ir::conjuncts(condition))
      if (!changes(branch, part)) known.assume(part);
  }
  ~inside() { known_ = std::move(outside_); }

  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  explicit inside(analyzer& known) : known_(known), outside_(known) {}

  static bool changes_in(const ir::range& r, const ir::stmt& s) {
    return changes(s, r.min) || changes(s, r.extent);
  }
  void bind(const ir::var& v, const ir::range& r, const ir::stmt& body) {
    if (!changes_in(r, body)) known_.bind(v, r);
  }

  analyzer& known_;
  analyzer outside_;
};

}  // namespace tilewright::arith::detail
