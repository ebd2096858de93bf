#pragma once

#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::simplify {

using namespace tilewright::ir;

/// Conjuncts of the condition in front of `s` (no else branch), and what they guard.
inline std::vector<expr> take_guard(stmt& s) {
  const if_node* n = as_if(s);
  if (!n || n->else_body) return {};
  std::vector<expr> terms = conjuncts(n->condition);
  stmt body = n->then_body;
  s = std::move(body);
  return terms;
}

inline stmt guarded(const std::vector<expr>& terms, stmt body) {
  return terms.empty() ? body : make_if(conjunction(terms), std::move(body));
}

/// Whether copies of the loop are made in the background, also those of its only iteration
/// (pass/gpu/pipeline_loops.hpp).
inline bool copies_ahead(const loop_node& loop) {
  return loop.annotations.count("software_pipeline_async_stages") > 0;
}

/// Whether the loop is going to be divided, also inside of its only iteration (pass/rows/divide_rows.hpp).
inline bool is_divided(const loop_node& loop) {
  const auto tasks = loop.annotations.find(tasks_annotation);
  return loop.loop == loop_kind::parallel && tasks != loop.annotations.end() &&
         tasks->second != attr(1);
}

class simplifier : public mutator {
 public:
  using mutator::mutate;

  expr mutate(const expr& e) override {
    if (e->op == op::var || e->op == op::integer || e->op == op::real) return e;
    return arith::is_index(e.type()) || e.type() == dtype::boolean ? known_.simplify(e)
                                                                   : mutator::mutate(e);
  }

  stmt mutate(const stmt& s) override {
    switch (s->kind) {
      case stmt_kind::loop: return mutate_loop(s);
      case stmt_kind::if_else: return mutate_if(*as_if(s));
      case stmt_kind::seq: return mutate_seq(s);
      case stmt_kind::let: {
        const let_node& let = *as_let(s);
        expr value = mutate(let.value);
        stmt body = mutate(let.body);
        if (value.same(let.value) && body == let.body) return s;
        return is_nothing(body) ? nothing() : make_let(let.var, std::move(value), std::move(body));
      }
      case stmt_kind::allocate: {
        stmt body = mutate(as_allocate(s)->body);
        if (body == as_allocate(s)->body) return s;
        return is_nothing(body) ? nothing()
                                : make_allocate(as_allocate(s)->buffer, std::move(body));
      }
      default: return mutator::mutate(s);
    }
  }

 private:
  static stmt nothing() { return make_seq({}); }

  stmt mutate_seq(const stmt& s) {
    bool changed = false;
    std::vector<stmt> out;
    for (const stmt& child : as_seq(s)->stmts) {
      stmt next = mutate(child);
      changed = changed || next != child;
      if (is_nothing(next)) continue;
      if (stmt joined = out.empty() ? stmt{} : join(out.back(), next))
        out.back() = std::move(joined);
      else
        out.push_back(std::move(next));
    }
    return changed || out.size() != as_seq(s)->stmts.size() ? make_seq(std::move(out)) : s;
  }

  /// Two statements under one condition, when they ask the same.
  static stmt join(const stmt& a, const stmt& b) {
    const if_node *first = as_if(a), *second = as_if(b);
    if (!first || !second || first->else_body || second->else_body ||
        reads_memory(first->condition))
      return {};
    if (!arith::same_value(first->condition, second->condition)) return {};
    return make_if(first->condition, make_seq({first->then_body, second->then_body}));
  }

  stmt mutate_loop(const stmt& s) {
    const loop_node& loop = *as_loop(s);
    const expr min = mutate(loop.min), extent = mutate(loop.extent);
    if (is_int(extent) && as_int(extent) <= 0) return nothing();
    if (is_int(extent, 1) && loop.loop != loop_kind::thread_binding && !copies_ahead(loop) &&
        !is_divided(loop)) {
      const expr at = min.type() == loop.var.type() ? min : cast(loop.var.type(), min);
      return mutate(substitute(loop.body, {{loop.var, at}}));
    }
    const arith::analyzer before = known_;
    known_.bind(loop.var, range{min, extent});
    // a block or thread that is alone on its axis: loads and stores are to name one element alike
    const bool alone = is_int(extent, 1) && loop.loop == loop_kind::thread_binding;
    stmt body = mutate(alone ? substitute(loop.body, {{loop.var, min}}) : loop.body);
    known_ = before;
    if (is_nothing(body)) return nothing();
    std::vector<expr> fixed, varying;
    stmt inner = body;
    // what all threads of a grid come by stays inside of their loops
    if (loop.loop != loop_kind::thread_binding)
      for (expr& term : take_guard(inner))
        (uses_var(term, loop.var) || reads_memory(term) ? varying : fixed)
            .push_back(std::move(term));
    if (!fixed.empty()) body = guarded(varying, inner);
    const bool same = min.same(loop.min) && extent.same(loop.extent) && body == loop.body;
    stmt out = same ? s : with_domain(loop, min, extent, std::move(body));
    return guarded(fixed, std::move(out));
  }

  stmt mutate_if(const if_node& n) {
    const expr condition = mutate(n.condition);
    if (is_int(condition)) {
      if (as_int(condition)) return mutate(n.then_body);
      return n.else_body ? mutate(n.else_body) : nothing();
    }
    const arith::analyzer before = known_;
    known_.assume(condition);
    stmt then_body = mutate(n.then_body), else_body;
    known_ = before;
    if (n.else_body) {
      known_.assume(logical_not(condition));
      else_body = mutate(n.else_body);
      known_ = before;
      if (is_nothing(else_body)) else_body = {};
    }
    if (!else_body && is_nothing(then_body)) return nothing();
    // the inner ifs of a chain become one condition, unless the outer one keeps a load in bounds
    std::vector<expr> terms = conjuncts(condition);
    if (const if_node* inner = as_if(then_body);
        inner && !else_body && !reads_memory(inner->condition))
      for (expr& term : take_guard(then_body)) terms.push_back(std::move(term));
    return make_if(conjunction(terms), std::move(then_body), std::move(else_body));
  }

  arith::analyzer known_;
};

}  // namespace tilewright::pass::detail::simplify

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::stmt simplify_loops(const ir::stmt& s) {
  return detail::simplify::simplifier{}.mutate(s);
}

TILEWRIGHT_INLINE ir::function simplify_loops(const ir::function& f) {
  ir::function out = f;
  out.body = simplify_loops(f.body);
  return out;
}

}  // namespace tilewright::pass
