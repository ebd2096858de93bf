#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <tilewright/arith/iter_map.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/vector/joined_indices.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/pass/vector/sink_vectors.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail::sink {

using namespace tilewright::ir;

inline bool is_straight(const stmt& s) {
  bool straight = true;
  for_each_stmt(s, [&](const stmt& x) {
    straight = straight && x->kind != stmt_kind::loop && x->kind != stmt_kind::allocate;
  });
  return straight;
}

/// Every store addresses another element in each lane.
inline bool stores_depend_on(const stmt& s, const var& lane) {
  bool all = true;
  for_each_stmt(s, [&](const stmt& x) {
    const store_node* store = as_store(x);
    if (!store) return;
    bool depends = false;
    for (const expr& e : store->indices) depends = depends || uses_var(e, lane);
    all = all && depends;
  });
  return all;
}

/// Whether stores that add to what they find do so in elements that no other lane adds to. Lanes
/// that share elements must run one after the other.
class own_sums : visitor {
 public:
  explicit own_sums(const loop_node& lanes) {
    loops_.emplace_back(lanes.var, range{lanes.min, lanes.extent});
    visit(lanes.body);
  }
  bool all() const noexcept { return all_; }

 private:
  using visitor::visit;
  void visit(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (loop) loops_.emplace_back(loop->var, range{loop->min, loop->extent});
    visitor::visit(s);
    if (loop) loops_.pop_back();
    const store_node* store = as_store(s);
    if (store && loads_from(store->value, store->buffer)) all_ = all_ && is_own(store->indices);
  }

  bool is_own(const std::vector<expr>& apart) const {
    const std::vector<expr> indices = joined_indices(apart);
    for (const expr& e : indices)
      if (steps_over(e)) return true;
    arith::loop_domains used;
    std::vector<expr> parts;
    for (const auto& l : loops_)
      if (support::any(indices, [&](const expr& e) { return uses_var(e, l.first); }))
        used.push_back(l);
    for (const expr& e : indices) add_digits(parts, e);
    return arith::detect_iter_map(parts, used, boolean(true), arith::iter_map_level::bijective, {})
        .has_value();
  }

  /// The summands of an index where its value tells each of them, else the index.
  void add_digits(std::vector<expr>& to, const expr& index) const {
    arith::linear sum = arith::to_linear(index);
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
    arith::analyzer known;
    known.bind(loops_);
    arith::bounds below{0, 0};
    std::vector<expr> digits;
    for (const auto& [term, factor] : sum.terms) {
      if (!moves(term)) continue;
      if (!below.bounded() || below.hi - below.lo >= std::abs(factor)) return to.push_back(index);
      below = arith::add(below, arith::scale(known.const_bounds(term), factor));
      digits.push_back(term);
    }
    to.insert(to.end(), digits.begin(), digits.end());
  }

  bool moves(const expr& e) const {
    return support::any(loops_, [&](const auto& l) { return uses_var(e, l.first); });
  }

  /// A lane moves the index by more than the loops inside do.
  bool steps_over(const expr& index) const {
    const arith::linear sum = arith::to_linear(index);
    const std::int64_t step = std::abs(sum.coefficient(loops_.front().first));
    arith::analyzer known;
    known.bind(loops_);
    arith::bounds inside{0, 0};
    for (const auto& [term, factor] : sum.terms) {
      if (term.same(loops_.front().first)) continue;
      if (uses_var(term, loops_.front().first)) return false;
      if (moves(term)) inside = arith::add(inside, arith::scale(known.const_bounds(term), factor));
    }
    return inside.bounded() && inside.hi - inside.lo < step;
  }

  arith::loop_domains loops_;  // that of the lanes first
  bool all_ = true;
};

class sinker : public mutator {
 public:
  using mutator::mutate;
  stmt mutate(const stmt& s) override {
    stmt out = mutator::mutate(s);
    const loop_node* loop = as_loop(out);
    if (!loop || loop->loop != loop_kind::vectorized) return out;
    if (stores_depend_on(loop->body, loop->var) && own_sums(*loop).all()) {
      if (is_straight(loop->body)) return out;
      written_ = stored_buffers(loop->body);
      if (stmt moved = distribute(*loop, loop->body)) return moved;
    }
    return with_kind(*loop, loop_kind::serial, loop->body);
  }

 private:
  static stmt lanes_around(const loop_node& loop, const stmt& body) {
    return rename_loops(with_body(loop, body));
  }

  /// A value that is the same whenever it is computed inside the loop.
  bool is_stable(const expr& e) const {
    if (e->op == op::load && written_.count(e->buffer)) return false;
    for (const expr& arg : e->args)
      if (!is_stable(arg)) return false;
    return true;
  }

  /// `body` for all lanes of `loop`; null when that is not possible.
  stmt distribute(const loop_node& loop, const stmt& body) const {
    if (is_straight(body)) return lanes_around(loop, body);
    if (const seq_node* seq = as_seq(body)) return distribute_seq(loop, *seq);
    if (const loop_node* inner = as_loop(body)) {
      const bool fixed = !uses_var(inner->min, loop.var) && !uses_var(inner->extent, loop.var);
      if (!fixed || inner->loop == loop_kind::vectorized ||
          inner->loop == loop_kind::thread_binding)
        return {};
      stmt moved = distribute(loop, inner->body);
      return moved ? with_body(*inner, std::move(moved)) : stmt{};
    }
    if (const if_node* n = as_if(body)) return distribute_if(loop, *n);
    if (const let_node* let = as_let(body))
      return is_stable(let->value)
                 ? distribute(loop, substitute(let->body, {{let->var, let->value}}))
                 : stmt{};
    return {};
  }

  stmt distribute_seq(const loop_node& loop, const seq_node& seq) const {
    std::vector<stmt> out, run;
    const auto flush = [&] {
      if (!run.empty()) out.push_back(lanes_around(loop, make_seq(std::exchange(run, {}))));
    };
    for (const stmt& child : seq.stmts) {
      if (is_straight(child)) {
        run.push_back(child);
        continue;
      }
      flush();
      stmt moved = distribute(loop, child);
      if (!moved) return {};
      out.push_back(std::move(moved));
    }
    flush();
    return make_seq(std::move(out));
  }

  stmt distribute_if(const loop_node& loop, const if_node& n) const {
    if (!is_stable(n.condition)) return {};
    if (!uses_var(n.condition, loop.var)) {
      stmt yes = distribute(loop, n.then_body),
           no = n.else_body ? distribute(loop, n.else_body) : stmt{};
      return yes && (no || !n.else_body) ? make_if(n.condition, std::move(yes), std::move(no))
                                         : stmt{};
    }
    stmt out = distribute_where(loop, n.condition, n.then_body);
    if (!out || !n.else_body) return out;
    stmt no = distribute_where(loop, logical_not(n.condition), n.else_body);
    return no ? make_seq({std::move(out), std::move(no)}) : stmt{};
  }

  stmt distribute_where(const loop_node& loop, const expr& condition, const stmt& body) const {
    const stmt guarded = push_condition(condition, body);
    return guarded ? distribute(loop, guarded) : stmt{};
  }

  /// The condition around each part of `s` that is free of loops; null where something else than
  /// loops, sequences and branches holds the loops.
  stmt push_condition(const expr& condition, const stmt& s) const {
    if (const loop_node* loop = as_loop(s)) {
      stmt body = push_condition(condition, loop->body);
      return body ? with_body(*loop, std::move(body)) : stmt{};
    }
    if (const seq_node* seq = as_seq(s)) {
      std::vector<stmt> out;
      for (const stmt& child : seq->stmts) {
        out.push_back(push_condition(condition, child));
        if (!out.back()) return {};
      }
      return make_seq(std::move(out));
    }
    if (is_straight(s)) return make_if(condition, s);
    const if_node* n = as_if(s);
    return n ? push_into_branches(condition, *n) : stmt{};
  }

  stmt push_into_branches(const expr& condition, const if_node& n) const {
    // The inner condition is computed where the outer one is false, too: it must not read there.
    if (!is_stable(n.condition) || reads_memory(n.condition)) return {};
    stmt yes = push_condition(logical_and(condition, n.condition), n.then_body);
    if (!yes || !n.else_body) return yes;
    stmt no = push_condition(logical_and(condition, logical_not(n.condition)), n.else_body);
    return no ? make_seq({std::move(yes), std::move(no)}) : stmt{};
  }

  buffer_set written_;
};

}  // namespace tilewright::pass::detail::sink

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function sink_vectors(const ir::function& f) {
  ir::function out = f;
  out.body = detail::sink::sinker{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
