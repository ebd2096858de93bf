// Loops end where nothing that they do is needed any more.
//
//   for part in range(16):                               for part in range(min(16, (bx * 128 + 127) // 64 + 1)):
//     S[..] = K[part * 64 + ..]                            S[..] = K[part * 64 + ..]
//     if part * 64 <= bx * 128 + ty * 32 + 31:     ->      if part * 64 <= bx * 128 + ty * 32 + 31:
//       Y[..] += .. S[..]                                    Y[..] += .. S[..]
//
// Copies of what the hidden parts of a triangle would need go with them. All threads of a block make the same number of
// rounds, the most that any of them needs, so that they meet at the same barriers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/gpu/pipeline_pieces.hpp>
#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::shortening {

using namespace tilewright::ir;

/// How often each buffer is loaded from and stored to.
using touch_counts = std::unordered_map<buffer, std::size_t>;

inline touch_counts touches_in(const stmt& s) {
  touch_counts out;
  for_each_stmt(s, [&](const stmt& x) {
    if (const store_node* store = as_store(x)) ++out[store->buffer];
  });
  for_each_expr(s, [&](const expr& e) {
    if (e->op == op::load || e->op == op::data) ++out[e->buffer];
  });
  return out;
}

class shortener : public mutator {
 public:
  using mutator::mutate;

  explicit shortener(const stmt& whole) : all_(touches_in(whole)) {
    for_each_stmt(whole, [&](const stmt& s) {
      if (const allocate_node* n = as_allocate(s)) own_.insert(n->buffer);
    });
  }

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    if (loop->loop == loop_kind::thread_binding) {
      threads_.push_back(loop);
      stmt out = mutator::mutate(s);
      threads_.pop_back();
      return out;
    }
    stmt out = mutator::mutate(s);
    const loop_node& inside = *as_loop(out);
    if (inside.loop != loop_kind::serial || !is_int(inside.min, 0) || !is_int(inside.extent))
      return out;
    const std::optional<expr> rounds = rounds_of(inside, s);
    if (!rounds) return out;
    return make_loop(inside.var, inside.min, ir::min(inside.extent, *rounds), inside.body,
                     inside.loop, inside.annotations);
  }

 private:
  static void flatten(const stmt& s, std::vector<stmt>& out) {
    if (const allocate_node* n = as_allocate(s)) return flatten(n->body, out);
    if (const seq_node* seq = as_seq(s)) {
      for (const stmt& child : seq->stmts) flatten(child, out);
      return;
    }
    out.push_back(s);
  }

  /// How many rounds do something that is needed; nothing where that is not known.
  std::optional<expr> rounds_of(const loop_node& loop, const stmt& whole) const {
    std::vector<stmt> statements;
    flatten(loop.body, statements);
    const touch_counts here = touches_in(whole);
    // loops over registers alone are written out, each round under its condition
    const auto fills_shared = [&](const stmt& s) {
      return fills_own_memory(s, here) &&
             support::any(pipelining::effects(s).written,
                          [](const buffer& b) { return storage_rank(b->scope) == 1; });
    };
    if (support::none(statements, [](const stmt& s) { return as_if(s); }) ||
        support::none(statements, fills_shared))
      return std::nullopt;
    std::optional<expr> out;
    for (const stmt& s : statements) {
      if (fills_own_memory(s, here)) continue;
      const std::optional<expr> mine = last_round(s, loop.var);
      if (!mine) return std::nullopt;
      out = out ? ir::max(*out, *mine) : *mine;
    }
    return out;
  }

  bool fills_own_memory(const stmt& s, const touch_counts& here) const {
    return support::all(pipelining::effects(s).written, [&](const buffer& b) {
      return own_.count(b) != 0 && here.at(b) == all_.at(b);
    });
  }

  /// The first round in which the statement's condition holds for no thread, and for none after it.
  std::optional<expr> last_round(const stmt& s, const var& round) const {
    const if_node* branch = as_if(s);
    if (!branch || branch->else_body) return std::nullopt;
    for (const expr& term : conjuncts(branch->condition))
      if (const auto bound = bound_of(term, round)) return bound;
    return std::nullopt;
  }

  /// `condition` as round * step <= rest, what is left of it at its greatest.
  std::optional<expr> bound_of(const expr& condition, const var& round) const {
    const auto order = order_of(condition);
    if (!order ||
        any_expr(condition, [](const expr& e) { return e->op == op::load || e->op == op::call; }))
      return std::nullopt;
    arith::linear rest = arith::to_linear(order->second - order->first);
    std::int64_t step = 0;
    arith::linear most;
    most.type = rest.type;
    most.constant = rest.constant - (condition->op == op::lt || condition->op == op::gt ? 1 : 0);
    for (const auto& [term, factor] : rest.terms) {
      if (term.same(round)) {
        step = -factor;
        continue;
      }
      if (uses_var(term, round)) return std::nullopt;
      const loop_node* const thread = thread_in(term);
      if (!thread) {
        most.terms.push_back({term, factor});
        continue;
      }
      if (!term.same(thread->var) || constant_extent(*thread) < 1) return std::nullopt;
      if (factor > 0) most.constant += factor * (constant_extent(*thread) - 1);
    }
    if (step <= 0) return std::nullopt;
    const expr rounds =
        floordiv(arith::from_linear(most), integer(most.type, step)) + integer(most.type, 1);
    return most.type == round.type() ? rounds : cast(round.type(), rounds);
  }
  static std::optional<std::pair<expr, expr>> order_of(const expr& e) {
    switch (e->op) {
      case op::lt:
      case op::le: return std::pair{expr(e->args[0]), expr(e->args[1])};
      case op::gt:
      case op::ge: return std::pair{expr(e->args[1]), expr(e->args[0])};
      default: return std::nullopt;
    }
  }
  /// A thread of the block in the term.
  const loop_node* thread_in(const expr& term) const {
    for (const loop_node* l : threads_)
      if (std::string_view(l->thread_tag).starts_with("threadIdx") && uses_var(term, l->var))
        return l;
    return nullptr;
  }

  touch_counts all_;
  buffer_set own_;
  std::vector<const loop_node*> threads_;
};

}  // namespace tilewright::pass::detail::shortening

namespace tilewright::pass {

/// Works on kernels (pass/gpu/unify_threads.hpp), before their iterations overlap. A loop is shortened where each
/// statement of it either stands under a condition that holds up to some round, in terms of what stands around the
/// loop, or stores only to memory of the kernel that nothing outside of the loop touches, and one of these fills shared
/// memory.
inline ir::function shorten_loops(const ir::function& f) {
  ir::function out = f;
  out.body = detail::shortening::shortener(f.body).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
