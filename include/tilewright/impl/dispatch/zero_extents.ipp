#pragma once

#include <vector>

#include <tilewright/dispatch/zero_extents.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dispatch {
namespace detail {

class iteration_remover : public ir::mutator {
 public:
  explicit iteration_remover(std::int64_t placeholder) : placeholder_(placeholder) {}

  using ir::mutator::mutate;
  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* l = ir::as_loop(s); l && ir::is_int(l->extent, placeholder_))
      return reduces(*l) ? mutate(l->body) : ir::stmt();
    if (const ir::loop_node* l = ir::as_loop(s)) {
      ir::stmt body = mutate(l->body);
      return body ? ir::with_body(*l, std::move(body)) : body;
    }
    if (const ir::seq_node* q = ir::as_seq(s)) {
      std::vector<ir::stmt> kept;
      for (const ir::stmt& one : q->stmts)
        if (ir::stmt changed = mutate(one)) kept.push_back(std::move(changed));
      return kept.empty() ? ir::stmt() : ir::make_seq(std::move(kept));
    }
    if (const ir::block_realize_node* r = ir::as_realize(s)) return realize(*r);
    return s;
  }

 private:
  bool reduces(const ir::loop_node& loop) const {
    bool found = false;
    ir::for_each_stmt(loop.body, [&](const ir::stmt& s) {
      const ir::block_realize_node* r = ir::as_realize(s);
      for (std::size_t i = 0; r && i < r->values.size(); ++i)
        found |= ir::uses_var(r->values[i], loop.var) &&
                 r->block->iters[i].kind == ir::iter_kind::reduce;
    });
    return found;
  }

  /// A block without iterations of its reduction stores the identity; others stay, the root is entered.
  ir::stmt realize(const ir::block_realize_node& r) {
    ir::block_node b = *r.block;
    if (b.iters.empty()) {
      b.body = mutate(b.body);
      if (!b.body) b.body = ir::make_evaluate(ir::integer(dtype::i32, 0));
      return ir::make_realize(r.values, r.predicate, ir::make_block(std::move(b)));
    }
    std::vector<ir::expr> values;
    std::vector<ir::iter_var> iters;
    bool empty = false;
    for (std::size_t i = 0; i < b.iters.size(); ++i)
      empty |= b.iters[i].kind == ir::iter_kind::reduce &&
               ir::is_int(b.iters[i].dom.extent, placeholder_);
    if (!empty || !b.init) return ir::make_realize(r.values, r.predicate, r.block);
    for (std::size_t i = 0; i < b.iters.size(); ++i)
      if (b.iters[i].kind != ir::iter_kind::reduce) {
        values.push_back(r.values[i]);
        iters.push_back(b.iters[i]);
      }
    b.iters = std::move(iters);
    b.body = b.init;
    b.init = {};
    b.reads.clear();
    return ir::make_realize(std::move(values), ir::boolean(true), ir::make_block(std::move(b)));
  }

  std::int64_t placeholder_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::int64_t unused_extent(const search::extent_map& dims) {
  std::int64_t out = 97;
  while (support::any(dims, [&](const auto& d) { return d.second == out; })) ++out;
  return out;
}

TILEWRIGHT_INLINE ir::function without_iterations(const ir::function& f, std::int64_t placeholder) {
  ir::function out = f;
  out.body = detail::iteration_remover(placeholder).mutate(f.body);
  return out;
}

}  // namespace tilewright::dispatch
