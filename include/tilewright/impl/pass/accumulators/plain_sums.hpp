// Reductions of tuples whose values do not need each other, as stores one after the other.
//
//   let a = S[i] + x:                    S[i] = S[i] + x
//     let b = Q[i] + x * x:       ->     Q[i] = Q[i] + x * x
//       S[i] = a, Q[i] = b
//
// Each store is then the step of a sum, which promote_accumulators adds up in parts.
#pragma once

#include <utility>
#include <vector>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::promote {

using namespace tilewright::ir;

/// Takes temporaries apart from each of which one element is stored.
class plain_sums : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (as_let(s))
      if (stmt plain = without_temporaries(s)) return plain;
    return mutator::mutate(s);
  }

 private:
  /// Stores of the temporaries' values; null where a value or an index needs what another one stores.
  static stmt without_temporaries(const stmt& s) {
    std::vector<const let_node*> lets;
    const stmt* at = &s;
    for (; as_let(*at); at = &as_let(*at)->body) lets.push_back(as_let(*at));
    const seq_node* stores = as_seq(*at);
    if (!stores || stores->stmts.size() != lets.size()) return {};
    const buffer_set stored = stored_buffers(*at);
    if (stored.size() != lets.size()) return {};
    std::vector<stmt> out;
    for (const stmt& each : stores->stmts) {
      const store_node* store = as_store(each);
      if (!store || !keeps_indices(*store, lets, stored)) return {};
      const let_node* of = nullptr;
      for (const let_node* l : lets)
        if (store->value.same(l->var)) of = l;
      if (!of || !needs_only(of->value, *store, lets, stored)) return {};
      out.push_back(make_store(store->buffer, store->indices, of->value));
    }
    return make_seq(std::move(out));
  }

  static bool keeps_indices(const store_node& store, const std::vector<const let_node*>& lets,
                            const buffer_set& stored) {
    return support::all(store.indices, [&](const expr& e) {
      return support::none(lets, [&](const let_node* l) { return uses_var(e, l->var); }) &&
             support::none(stored, [&](const buffer& b) { return loads_from(e, b); });
    });
  }

  /// Of what the stores change, the value loads the element alone that it is stored to.
  static bool needs_only(const expr& value, const store_node& to,
                         const std::vector<const let_node*>& lets, const buffer_set& stored) {
    bool out = support::none(lets, [&](const let_node* l) { return uses_var(value, l->var); });
    for_each_expr(value, [&](const expr& e) {
      if (e->op != op::load || !stored.count(e->buffer)) return;
      out = out && e->buffer == to.buffer && same_indices(e->args, to.indices);
    });
    return out;
  }
};

}  // namespace tilewright::pass::detail::promote
