// Simplifies the indices of loads and stores, and the regions of blocks, where they stand.
#pragma once

#include <utility>
#include <vector>

#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive::detail {

class access_simplifier : public arith::scoped_mutator {
 public:
  explicit access_simplifier(arith::analyzer outside) : scoped_mutator(std::move(outside)) {}

  using scoped_mutator::mutate;

  ir::expr mutate(const ir::expr& e) override {
    const ir::expr inner = ir::mutator::mutate(e);
    if (inner->op != ir::op::load) return inner;
    return ir::load(inner->buffer, simplified(inner->args));
  }

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt inner = scoped_mutator::mutate(s);
    const ir::store_node* store = ir::as_store(inner);
    if (!store) return inner;
    return ir::make_store(store->buffer, simplified(store->indices), store->value);
  }

 private:
  ir::block mutate_bound(const ir::block& b) override {
    ir::block_node out = *ir::mutator::mutate(b);
    for (auto* list : {&out.reads, &out.writes})
      for (ir::buffer_region& r : *list)
        for (ir::range& part : r.box)
          part = {known.simplify(part.min), known.simplify(part.extent)};
    return ir::make_block(std::move(out));
  }

  std::vector<ir::expr> simplified(std::vector<ir::expr> indices) const {
    for (ir::expr& e : indices) e = known.simplify(e);
    return indices;
  }
};

}  // namespace tilewright::primitive::detail
