// The largest or smallest value and its position, where loops bring the values by rising positions.
//
//   for i in range(512):                                         for i in range(512):
//     let p = select(V > A[i] or (V == A[i] and P < i), P, i)      let p = select(V >= A[i], P, i)
//     let v = select(V > A[i], V, A[i])                     ->     let v = select(V > A[i], V, A[i])
//     P = p; V = v                                                 P = p; V = v
//
// Of equal values the one with the smaller position stays. Where what P holds stands in front of i, that is the one
// that came first, and positions need not be compared: they are half of the arithmetic of a search along columns.
// Partial results are combined by the whole test (`accumulation`).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/impl/dependence/term_order.hpp>
#include <tilewright/impl/pass/accumulation.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::rising_positions {

using namespace tilewright::ir;

/// A block under loops that nothing but statements one after the other stands between.
class block_in_loops {
 public:
  block_in_loops(const block_realize_node& realize, const dependence::loop_nest& nest)
      : realize_(realize), nest_(nest) {
    for (const loop_node* loop : nest)
      if (brings_terms(*loop)) first_.emplace(loop->var, loop->min);
  }

  /// Whether the element of `to` holds, in front of each term, what the block's init or an earlier term left there.
  bool owns(const buffer& to, const std::vector<expr>& at) const {
    const auto stays = [&](const expr& e) {
      return !reads_memory(e) && support::none(realize_.block->iters, [&](const iter_var& iter) {
        return iter.kind == iter_kind::reduce && uses_var(e, iter.var);
      });
    };
    return support::all(at, stays) && begins() &&
           (first_.empty() || count_stores(outermost().body, to) == own_stores(to));
  }

 private:
  bool brings_terms(const loop_node& loop) const {
    for (std::size_t k = 0; k < realize_.values.size(); ++k)
      if (realize_.block->iters[k].kind == iter_kind::reduce &&
          uses_var(realize_.values[k], loop.var))
        return true;
    return false;
  }

  /// Whether the first iteration of the loops that bring terms runs, and runs the init.
  bool begins() const {
    for (std::size_t k = 0; k < realize_.values.size(); ++k) {
      const iter_var& iter = realize_.block->iters[k];
      if (iter.kind == iter_kind::reduce &&
          !is_true(arith::simplify(eq(substitute(realize_.values[k], first_), iter.dom.min))))
        return false;
    }
    return support::all(conjuncts(realize_.predicate), [&](const expr& condition) {
      const expr there = substitute(condition, first_);
      return there.same(condition) || is_true(arith::simplify(there));
    });
  }

  const loop_node& outermost() const {
    for (const loop_node* loop : nest_)
      if (first_.count(loop->var) != 0) return *loop;
    return *nest_.front();
  }

  static int count_stores(const stmt& s, const buffer& to) {
    int out = 0;
    for_each_stmt(s, [&](const stmt& each) {
      out += as_store(each) && as_store(each)->buffer == to ? 1 : 0;
    });
    for_each_expr(s, [&](const expr& e) { out += e->op == op::data && e->buffer == to ? 1 : 0; });
    return out;
  }
  int own_stores(const buffer& to) const {
    return count_stores(realize_.block->init, to) + count_stores(realize_.block->body, to);
  }

  const block_realize_node& realize_;
  const dependence::loop_nest& nest_;
  var_map first_;  // where the loops that bring terms begin
};

class dropper : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const loop_node* loop = as_loop(s)) {
      nest_.push_back(loop);
      stmt out = mutator::mutate(s);
      nest_.pop_back();
      return out;
    }
    if (as_seq(s)) return mutator::mutate(s);
    const block_realize_node* realize = as_realize(s);
    if (stmt body = realize ? without_ties(*realize) : stmt{}) {
      block_node b = *realize->block;
      b.body = std::move(body);
      return make_realize(realize->values, realize->predicate, make_block(std::move(b)));
    }
    // loops around the root, and below conditions and the like, are not followed
    if (!realize || depth_ > 0) return s;
    dependence::loop_nest outside = std::exchange(nest_, {});
    ++depth_;
    stmt out = mutator::mutate(s);
    --depth_;
    nest_ = std::move(outside);
    return out;
  }

 private:
  /// The body of a block that begins in front of all positions; null where it is no such block.
  stmt without_ties(const block_realize_node& r) const {
    if (depth_ != 1 || !r.block->init) return {};
    std::optional<reductions::accumulation> step = reductions::match_position(r.block->body);
    if (!step || step->rising) return {};
    const buffer& place = step->to[0];
    const expr& position = step->value[0];
    const expr begin = initial(r.block->init, place, step->at[0]);
    if (!begin || reads_memory(position) || !block_in_loops(r, nest_).owns(place, step->at[0]) ||
        dependence::knowing(r.block->iters).const_bounds(position).lo < begin->integer ||
        !dependence::rises_with_terms(position, r, nest_))
      return {};
    step->rising = true;
    return stores(*step);
  }

  /// The literal that the element has at first; null where it is none.
  static expr initial(const stmt& init, const buffer& b, const std::vector<expr>& at) {
    const std::vector<stmt> all = as_seq(init) ? as_seq(init)->stmts : std::vector<stmt>{init};
    expr out;
    for (const stmt& each : all) {
      const store_node* store = as_store(each);
      if (!store) return {};
      if (store->buffer == b) out = same_indices(store->indices, at) ? store->value : expr{};
    }
    return out && is_int(out) ? out : expr{};
  }

  static stmt stores(const reductions::accumulation& step) {
    const std::vector<expr> next =
        step.next({load(step.to[0], step.at[0]), load(step.to[1], step.at[1])});
    std::vector<var> lets;
    std::vector<stmt> all;
    for (std::size_t t = 0; t < next.size(); ++t) {
      lets.push_back(make_var("v_" + step.to[t]->name, next[t].type()));
      all.push_back(make_store(step.to[t], step.at[t], lets[t]));
    }
    stmt out = make_seq(std::move(all));
    for (std::size_t t = next.size(); t-- > 0;) out = make_let(lets[t], next[t], std::move(out));
    return out;
  }

  dependence::loop_nest nest_;
  int depth_ = 0;  // blocks around
};

}  // namespace tilewright::pass::detail::rising_positions
