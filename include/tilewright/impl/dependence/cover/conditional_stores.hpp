// Stores of a block that may not happen, so that it writes less than it declares.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Looks for branches and loops without iteration around the stores to a buffer; blocks inside say
/// themselves what they write.
class skipped_stores {
 public:
  skipped_stores(const ir::block_node& block, const ir::buffer& x) : block_(block), x_(x) {
    for (const ir::iter_var& v : block.iters) bind(v.var, v.dom);
  }

  bool found() { return may_skip(block_.body); }

 private:
  void bind(const ir::var& v, const ir::range& range) {
    known_.bind(v, range);
    inside_.insert(v);
  }

  bool may_skip(const ir::stmt& s) {
    switch (s->kind) {
      case ir::stmt_kind::if_else: {
        const ir::if_node& n = *ir::as_if(s);
        if (!n.else_body) return stores(n.then_body);
        return !same_places(n) || may_skip(n.then_body) || may_skip(n.else_body);
      }
      case ir::stmt_kind::seq: {
        const std::vector<ir::stmt>& list = ir::as_seq(s)->stmts;
        return support::any(list, [&](const ir::stmt& c) { return may_skip(c); });
      }
      case ir::stmt_kind::loop: {
        const ir::loop_node& loop = *ir::as_loop(s);
        if (may_be_empty(loop) && stores(loop.body)) return true;
        bind(loop.var, {loop.min, loop.extent});
        return may_skip(loop.body);
      }
      case ir::stmt_kind::let: return may_skip(ir::as_let(s)->body);
      case ir::stmt_kind::allocate: return may_skip(ir::as_allocate(s)->body);
      case ir::stmt_kind::attribute: return may_skip(ir::as_attribute(s)->body);
      case ir::stmt_kind::while_loop: return stores(ir::as_while(s)->body);
      default: return false;
    }
  }

  /// With an init something is there anyway. A symbolic extent is believed, as that of a buffer is.
  bool may_be_empty(const ir::loop_node& loop) const {
    if (block_.init) return false;
    if (ir::reads_memory(loop.extent)) return true;
    const bool decided = ir::is_int(loop.extent) || ir::uses_any(loop.extent, inside_);
    return decided && known_.const_bounds(loop.extent).lo < 1;
  }

  bool stores(const ir::stmt& s) const {
    return ir::any_stmt(s, [&](const ir::stmt& x) {
      if (const ir::store_node* store = ir::as_store(x)) return store->buffer == x_;
      const ir::block_realize_node* r = ir::as_realize(x);
      return r && ir::writes_buffer(*r->block, x_);
    });
  }

  /// Both branches store to the buffer, at the same places, or neither does.
  bool same_places(const ir::if_node& n) const {
    if (stores(n.then_body) != stores(n.else_body)) return false;
    const std::vector<ir::expr>* first = nullptr;
    bool same = true;
    for (const ir::stmt& branch : {n.then_body, n.else_body})
      ir::for_each_stmt(branch, [&](const ir::stmt& x) {
        const ir::store_node* store = ir::as_store(x);
        if (!store || store->buffer != x_) return;
        if (!first) first = &store->indices;
        same = same && std::equal(first->begin(), first->end(), store->indices.begin(),
                                  [](const auto& a, const auto& b) { return ir::equal(a, b); });
      });
    return same;
  }

  const ir::block_node& block_;
  const ir::buffer& x_;
  arith::analyzer known_;
  ir::var_set inside_;
};

/// Whether the block may leave out a store to the buffer.
inline bool skips_stores(const ir::block_node& block, const ir::buffer& x) {
  return !ir::as_store(block.body) && skipped_stores(block, x).found();
}

}  // namespace tilewright::dependence
