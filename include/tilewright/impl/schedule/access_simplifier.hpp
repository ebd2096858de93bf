// Simplifies the indices of loads and stores, and the regions of blocks, where they stand.
#pragma once

#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive::detail {

class access_simplifier : public ir::mutator {
 public:
  explicit access_simplifier(arith::analyzer known) : known_(std::move(known)) {}

  using ir::mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    const ir::expr inner = ir::mutator::mutate(e);
    if (inner->op != ir::op::load) return inner;
    return ir::load(inner->buffer, simplified(inner->args));
  }

  ir::stmt mutate(const ir::stmt& s) override {
    if (const ir::loop_node* loop = ir::as_loop(s)) {
      const arith::analyzer outside = known_;  // there it may have no iterations
      known_.bind(loop->var, {loop->min, loop->extent});
      ir::stmt out = ir::mutator::mutate(s);
      known_ = outside;
      return out;
    }
    const ir::stmt inner = ir::mutator::mutate(s);
    const ir::store_node* store = ir::as_store(inner);
    if (!store) return inner;
    return ir::make_store(store->buffer, simplified(store->indices), store->value);
  }

  ir::block mutate(const ir::block& b) override {
    const arith::analyzer outside = known_;
    for (const ir::iter_var& i : b->iters) known_.bind(i.var, i.dom);
    ir::block_node out = *ir::mutator::mutate(b);
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list)
        for (ir::range& part : r.box)
          part = {known_.simplify(part.min), known_.simplify(part.extent)};
    known_ = outside;
    return ir::make_block(std::move(out));
  }

 private:
  std::vector<ir::expr> simplified(std::vector<ir::expr> indices) const {
    for (ir::expr& e : indices) e = known_.simplify(e);
    return indices;
  }

  arith::analyzer known_;
};

}  // namespace tilewright::primitive::detail
