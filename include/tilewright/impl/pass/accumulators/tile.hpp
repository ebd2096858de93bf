// The tile of a buffer that a loop touches again and again, for promote_accumulators.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/vector/joined_indices.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/numbers/radix.hpp>

namespace tilewright::pass::detail::promote {

using namespace tilewright::ir;

/// All accesses of one buffer inside a loop body, when they are at the same element.
struct access_summary {
  bool uniform = true;
  bool loaded = false, stored = false;
  std::vector<expr> indices;
  std::vector<const loop_node*> loops;  // around the accesses, inside the candidate loop
  std::vector<expr> guards;             // conjuncts in front of every access
  bool unconditional = false;           // some access has no other guards than these
};

class summarizer : public visitor {
 public:
  explicit summarizer(buffer b) : buffer_(std::move(b)) {}
  using visitor::visit;
  access_summary result;

  void visit(const expr& e) override {
    if (e->op == op::load && e->buffer == buffer_) {
      result.loaded = true;
      add(e->args);
    }
    if (e->op != op::if_then_else) return visitor::visit(e);
    visit(e->args[0]);
    visit_guarded(e->args[0], [&] { visit(e->args[1]); });
    visit_guarded(logical_not(e->args[0]), [&] { visit(e->args[2]); });
  }

  void visit(const stmt& s) override {
    if (!result.uniform) return;
    if (const loop_node* loop = as_loop(s)) {
      loops_.push_back(loop);
      visitor::visit(s);
      loops_.pop_back();
    } else if (const if_node* n = as_if(s)) {
      visit(n->condition);
      visit_guarded(n->condition, [&] { visit(n->then_body); });
      if (n->else_body) visit_guarded(logical_not(n->condition), [&] { visit(n->else_body); });
    } else if (const store_node* store = as_store(s); store && store->buffer == buffer_) {
      result.stored = true;
      add(store->indices);
      visitor::visit(s);
    } else {
      visitor::visit(s);
    }
  }

 private:
  template <class F>
  void visit_guarded(const expr& condition, const F& body) {
    const std::size_t depth = guards_.size();
    for (expr& term : conjuncts(condition)) guards_.push_back(std::move(term));
    body();
    guards_.resize(depth);
  }

  void add(const std::vector<expr>& indices) {
    if (!std::exchange(seen_, true)) {
      result.indices = indices;
      result.loops = loops_;
      result.guards = guards_;
      result.unconditional = true;
      return;
    }
    result.uniform =
        result.uniform && same_indices(indices, result.indices) && loops_ == result.loops;
    const std::size_t before = result.guards.size();
    std::erase_if(result.guards, [&](const expr& g) {
      return support::none(guards_, [&](const expr& h) { return arith::same_value(g, h); });
    });
    result.unconditional = (result.unconditional && result.guards.size() == before) ||
                           guards_.size() == result.guards.size();
  }

  buffer buffer_;
  std::vector<const loop_node*> loops_;
  std::vector<expr> guards_;
  bool seen_ = false;
};

/// Replaces accesses of a buffer by those of its accumulators, and unrolls the loops of the tile.
class replacer : public rerouting {
 public:
  replacer(buffer from, buffer to, std::vector<expr> indices, var_set unrolled)
      : from_(std::move(from)),
        to_(std::move(to)),
        indices_(std::move(indices)),
        unrolled_(std::move(unrolled)) {}
  using rerouting::mutate;
  stmt mutate(const stmt& s) override {
    stmt out = rerouting::mutate(s);
    if (const loop_node* loop = as_loop(out);
        loop && loop->loop == loop_kind::serial && unrolled_.count(loop->var))
      return with_kind(*loop, loop_kind::unrolled, loop->body);
    return out;
  }

 private:
  bool reroutes(const buffer& b) const override { return b == from_; }
  buffer_element rerouted(const buffer&, std::vector<expr>) override { return {to_, indices_}; }

  buffer from_, to_;
  std::vector<expr> indices_;
  var_set unrolled_;
};

/// What replaces a buffer within one loop.
struct tile {
  buffer original, accumulators;
  std::vector<const loop_node*> loops;  // of the tile, outermost first
  std::vector<expr> indices;            // of the original
  std::vector<expr> local;              // of the accumulators
  std::vector<expr> guards;             // of the copies
  expr runs;                            // condition of all copies; null: there is none
  var_set unrolled;
  std::int64_t additions = 0;  // see additions_of
};

inline bool has_serial_loop(const stmt& s) {
  return any_stmt(
      s, [](const stmt& x) { return as_loop(x) && as_loop(x)->loop == loop_kind::serial; });
}

/// Different points of the tile are different elements: every variable occurs in one index, as a
/// digit.
inline bool is_injective(const std::vector<expr>& indices,
                         const std::vector<const loop_node*>& loops) {
  std::size_t covered = 0;
  for (const expr& index : joined_indices(indices)) {
    support::radix digits;
    const arith::linear sum = arith::to_linear(index);
    for (const loop_node* loop : loops) {
      if (!uses_var(index, loop->var)) continue;
      const std::int64_t factor = sum.coefficient(loop->var);
      if (factor == 0) return false;
      for (const auto& [term, c] : sum.terms)
        if (!term.same(loop->var) && uses_var(term, loop->var)) return false;
      digits.add(std::abs(factor), constant_extent(*loop));
    }
    if (digits.distance() == 0) return false;
    covered += digits.size();
  }
  return covered == loops.size();
}

}  // namespace tilewright::pass::detail::promote
