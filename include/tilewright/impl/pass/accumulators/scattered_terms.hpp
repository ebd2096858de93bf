// Sums each term of which belongs to one result, which data tell: that result alone is touched.
//
//   for n in range(4096):                            for n in range(4096):
//     for b in range(100):    (scattered)      ->      if 0 <= I[n] and I[n] < 100:
//       H[b] = H[b] + Select(I[n] == b, V[n], 0)         H[I[n]] = H[I[n]] + V[n]
//
// Loops that ask for it by `scattered_note` are taken; adding zeros to all other results is left out, as inside of
// declared reductions identities may be (pass/skip_identities.hpp).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/one_hot.hpp>
#include <tilewright/impl/pass/accumulation.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/reduction_notes.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail {

class term_scatterer : public ir::mutator {
 public:
  using ir::mutator::mutate;

  ir::stmt mutate(const ir::stmt& s) override {
    const ir::stmt out = ir::mutator::mutate(s);
    const ir::loop_node* loop = ir::as_loop(out);
    if (!loop || loop->annotations.count(ir::scattered_note) == 0) return out;
    const ir::stmt one = scattered(*loop);
    return one ? one : out;
  }

 private:
  /// What the loop does, for the value of its variable that a term belongs to; null where its body is anything else.
  static ir::stmt scattered(const ir::loop_node& loop) {
    std::vector<ir::var> inside;
    const ir::stmt* at = &loop.body;
    for (const ir::loop_node* l; (l = ir::as_loop(*at)) != nullptr; at = &l->body)
      inside.push_back(l->var);
    const ir::store_node* store = ir::as_store(*at);
    if (loop.loop != ir::loop_kind::serial || !store || store->value->op != ir::op::add) return {};
    const ir::expr &first = store->value->args[0], &second = store->value->args[1];
    const auto is_old = [&](const ir::expr& e) {
      return e->op == ir::op::load && e->buffer == store->buffer &&
             same_indices(e->args, store->indices);
    };
    if (!is_old(first) && !is_old(second)) return {};
    const ir::expr &old = is_old(first) ? first : second, &term = is_old(first) ? second : first;
    const std::optional<arith::one_hot> hot = arith::as_one_hot(term, loop.var);
    if (!hot || ir::loads_from(hot->place, store->buffer) ||
        ir::loads_from(hot->value, store->buffer) ||
        support::any(inside, [&](const ir::var& v) { return ir::uses_var(hot->place, v); }))
      return {};
    const ir::expr place = ir::cast(loop.var.type(), hot->place);
    const ir::stmt added = ir::make_store(store->buffer, store->indices,
                                          ir::with_args(store->value, {old, hot->value}));
    const ir::stmt body = ir::substitute(with_store(loop.body, added), {{loop.var, place}});
    return ir::make_if(
        ir::logical_and(ir::le(loop.min, place), ir::lt(place, loop.min + loop.extent)), body);
  }

  static ir::stmt with_store(const ir::stmt& s, const ir::stmt& store) {
    const ir::loop_node* loop = ir::as_loop(s);
    return loop ? with_body(*loop, with_store(loop->body, store)) : store;
  }
};

/// Works on the loops of lower_blocks.
inline ir::function scatter_terms(const ir::function& f) {
  if (ir::keeps_term_order(f)) return f;  // the zeros of terms are terms, too
  ir::function out = f;
  out.body = term_scatterer{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass::detail
