// Reductions that read more of their results than the elements that they update.
#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/analysis/declared.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Whether the init or the body of a reduction loads other elements of its results than the two
/// store, as a scan does that has an init. Blocks inside are believed.
inline bool reads_other_results(const ir::block_node& b) {
  std::vector<const ir::store_node*> stores;
  std::vector<ir::expr> loads;
  const auto collect = [&](const auto& self, const ir::stmt& s) -> void {
    const auto note = [&](const ir::expr& value) {
      ir::for_each_expr(value, [&](const ir::expr& e) {
        if (e->op == ir::op::load && ir::writes_buffer(b, e->buffer)) loads.push_back(e);
      });
    };
    if (const ir::store_node* store = ir::as_store(s)) {
      stores.push_back(store);
      note(store->value);
    } else if (const ir::let_node* let = ir::as_let(s)) {
      note(let->value);
      self(self, let->body);
    } else if (const ir::seq_node* seq = ir::as_seq(s)) {
      for (const ir::stmt& child : seq->stmts) self(self, child);
    } else if (const ir::loop_node* loop = ir::as_loop(s)) {
      self(self, loop->body);
    }
  };
  collect(collect, b.init);
  collect(collect, b.body);
  return support::any(loads, [&](const ir::expr& load) {
    return support::none(stores, [&](const ir::store_node* s) {
      return s->buffer == load->buffer &&
             std::equal(load->args.begin(), load->args.end(), s->indices.begin(), s->indices.end(),
                        arith::same_value);
    });
  });
}

}  // namespace tilewright::dependence
