#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/scoped_mutator.hpp>
#include <tilewright/ir/rerouting.hpp>
#include <tilewright/pass/promote_accumulators.hpp>
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
  for (const expr& index : indices) {
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

class promoter : public arith::scoped_mutator {
 public:
  explicit promoter(const accumulator_limits& limits) : limits_(limits) {}
  using scoped_mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (as_loop(s)) return promote(s, nullptr);
    if (const seq_node* seq = as_seq(s)) {
      std::vector<stmt> out;
      for (const stmt& child : seq->stmts) {
        if (!as_loop(child)) {
          out.push_back(mutate(child));
          continue;
        }
        stmt before = out.empty() ? stmt{} : out.back();
        stmt next = promote(child, &before);
        if (!out.empty() && !before) out.pop_back();
        out.push_back(std::move(next));
      }
      return make_seq(std::move(out));
    }
    return scoped_mutator::mutate(s);
  }

 private:
  /// Promotes what can be at this loop, then looks inside it. `before` is the statement in front of
  /// the loop; it is cleared when an accumulator takes it over.
  stmt promote(const stmt& s, stmt* before) {
    const loop_node& loop = *as_loop(s);
    std::vector<tile> tiles;
    if (loop.loop == loop_kind::serial || loop.loop == loop_kind::unrolled)
      tiles = find_tiles(loop);
    stmt body = loop.body;
    for (const tile& t : tiles)
      body = replacer(t.original, t.accumulators, t.local, t.unrolled).mutate(body);
    const arith::analyzer outside = known;
    known.bind(loop.var, range{loop.min, loop.extent});
    if (loop.loop == loop_kind::parallel) parallel_.push_back(&loop);
    body = mutate(body);
    if (loop.loop == loop_kind::parallel) parallel_.pop_back();
    known = outside;
    stmt out = body == loop.body ? s : with_body(loop, std::move(body));
    for (const tile& t : tiles) {
      stmt first = before && *before && !t.runs ? take_over(*before, t) : stmt{};
      if (first)
        *before = {};
      else
        first = copies(t, make_store(t.accumulators, t.local, load(t.original, t.indices)));
      stmt last = copies(t, make_store(t.original, t.indices, load(t.accumulators, t.local)));
      if (t.runs) {
        first = make_if(t.runs, std::move(first));
        last = make_if(t.runs, std::move(last));
      }
      out = make_allocate(t.accumulators,
                          make_seq({std::move(first), std::move(out), std::move(last)}));
    }
    return out;
  }

  std::vector<tile> find_tiles(const loop_node& loop) {
    std::vector<tile> out;
    std::vector<buffer> order;  // of first store, so that equal programs give equal results
    for_each_stmt(loop.body, [&](const stmt& x) {
      const store_node* store = as_store(x);
      if (store && !support::contains(order, store->buffer)) order.push_back(store->buffer);
    });
    for (const buffer& b : order) {
      if (accumulators_.count(b) || allocated_inside(loop.body, b)) continue;
      summarizer summary(b);
      summary.visit(loop.body);
      if (!summary.result.uniform || !summary.result.loaded || !summary.result.stored) continue;
      if (std::optional<tile> t = make_tile(loop, b, summary.result)) {
        accumulators_.insert(t->accumulators);
        out.push_back(std::move(*t));
      }
    }
    return out;
  }

  static bool allocated_inside(const stmt& s, const buffer& b) {
    return any_stmt(s,
                    [&](const stmt& x) { return as_allocate(x) && as_allocate(x)->buffer == b; });
  }

  std::optional<tile> make_tile(const loop_node& loop, const buffer& b,
                                const access_summary& access) const {
    tile t;
    t.original = b;
    t.indices = access.indices;
    var_set inner{loop.var};  // variables that are not known outside the loop
    for_each_stmt(loop.body, [&](const stmt& x) {
      if (const let_node* let = as_let(x)) inner.insert(let->var);
      if (as_loop(x)) inner.insert(as_loop(x)->var);
    });
    for (const loop_node* l : access.loops)
      if (support::any(t.indices, [&](const expr& e) { return uses_var(e, l->var); }))
        t.loops.push_back(l);
    for (const loop_node* l : t.loops) {
      if (constant_extent(*l) <= 0 || uses_any(l->min, inner)) return std::nullopt;
      if (l->loop == loop_kind::serial && has_serial_loop(l->body) && !only_tile_loops(l->body, t))
        return std::nullopt;
      if (l->loop == loop_kind::serial)
        t.unrolled.insert(l->var);
      else if (l->loop != loop_kind::unrolled && l->loop != loop_kind::vectorized)
        return std::nullopt;
    }
    var_set tile_vars;
    for (const loop_node* l : t.loops) tile_vars.insert(l->var);
    const auto usable = [&](const expr& e) {
      for (const var& v : free_vars(e))
        if (inner.count(v) && !tile_vars.count(v)) return false;
      return !reads_memory(e);
    };
    const buffer_set stored = stored_buffers(loop.body);
    const auto is_index = [&](const expr& e) {  // known outside of the loop, and the same inside
      bool out = support::none(free_vars(e),
                               [&](const var& v) { return inner.count(v) && !tile_vars.count(v); });
      for_each_expr(e, [&](const expr& part) {
        if (part->op != op::load) return;
        out = out && !stored.count(part->buffer) &&
              support::none(free_vars(part), [&](const var& v) { return tile_vars.count(v) > 0; });
      });
      return out;
    };
    if (!support::all(t.indices, is_index) || !is_injective(t.indices, t.loops))
      return std::nullopt;
    bool always = access.unconditional;  // in each iteration of the loop
    for (const loop_node* l : access.loops) always = always && constant_extent(*l) > 0;
    for (const expr& g : access.guards) (usable(g) ? t.guards.push_back(g) : void(always = false));
    if (!fits(t)) return std::nullopt;
    const bool complete = always && constant_extent(loop) > 0;
    if (!complete && (!in_bounds(t) || is_shared(t))) {
      if (!always) return std::nullopt;
      t.runs = gt(loop.extent, integer(loop.extent.type(), 0));
    }
    make_buffers(t);
    return t;
  }

  static bool only_tile_loops(const stmt& s, const tile& t) {
    bool only = true;
    for_each_stmt(s, [&](const stmt& x) {
      const loop_node* l = as_loop(x);
      if (l && l->loop == loop_kind::serial) only = only && support::contains(t.loops, l);
    });
    return only;
  }

  bool fits(const tile& t) const {
    std::int64_t elements = 1;
    bool vectors = false;
    for (const loop_node* l : t.loops) {
      elements *= constant_extent(*l);
      if (elements > 65536) return false;
      vectors = vectors || l->loop == loop_kind::vectorized;
    }
    if (!vectors) return elements <= limits_.scalar_elements;
    // what the schedule unrolled itself may exceed the registers somewhat
    return elements * bytes(t.original->type) <=
           limits_.register_bytes * (t.unrolled.empty() ? 4 : 1);
  }

  /// Iterations that run at once may have the tile in common: then those that do not store may not
  /// copy it back.
  bool is_shared(const tile& t) const {
    for (const loop_node* l : parallel_)
      if (!allocated_inside(l->body, t.original) &&
          support::none(t.indices, [&](const expr& e) { return uses_var(e, l->var); }))
        return true;
    return false;
  }

  /// The copies touch only elements of the buffer, whatever the loop does.
  bool in_bounds(const tile& t) const {
    arith::analyzer here = known;
    for (const loop_node* l : t.loops) here.bind(l->var, range{l->min, l->extent});
    for (const expr& g : t.guards) here.assume(g);
    for (std::size_t d = 0; d < t.indices.size(); ++d) {
      const expr& e = t.indices[d];
      if (!here.prove(ge(e, integer(e.type(), 0))) || !here.prove(lt(e, t.original->shape[d])))
        return false;
    }
    return true;
  }

  static void make_buffers(tile& t) {
    std::vector<expr> shape;
    std::vector<const loop_node*> order, lanes;  // vectors are rows
    for (const loop_node* l : t.loops)
      (l->loop == loop_kind::vectorized ? lanes : order).push_back(l);
    order.insert(order.end(), lanes.begin(), lanes.end());
    for (const loop_node* l : order) {
      shape.push_back(l->extent);
      t.local.push_back(l->var - l->min);
    }
    if (shape.empty()) {
      shape.push_back(integer(dtype::i32, 1));
      t.local.push_back(integer(dtype::i32, 0));
    }
    t.accumulators =
        make_buffer(t.original->name + "_acc", t.original->type, std::move(shape), "local");
  }

  /// The loops of the tile, with its guards, around `body`; new variables.
  static stmt copies(const tile& t, stmt body) {
    if (!t.guards.empty()) body = make_if(conjunction(t.guards), std::move(body));
    for (std::size_t k = t.loops.size(); k-- > 0;) {
      const loop_node& l = *t.loops[k];
      body = make_loop(l.var, l.min, l.extent, std::move(body),
                       l.loop == loop_kind::serial ? loop_kind::unrolled : l.loop);
    }
    return rename_loops(body);
  }

  /// When `before` fills exactly the tile in the original buffer: the same for the accumulators.
  stmt take_over(const stmt& before, const tile& t) const {
    var_map map;
    stmt s = before;
    for (const loop_node* l : t.loops) {
      const loop_node* own = as_loop(s);
      if (!own || !arith::same_value(own->min, l->min) ||
          !arith::same_value(own->extent, l->extent))
        return {};
      map[own->var] = l->var;
      s = own->body;
    }
    std::vector<expr> guards;
    if (const if_node* n = as_if(s); n && !n->else_body) {
      guards = conjuncts(substitute(n->condition, map));
      s = n->then_body;
    }
    const store_node* store = as_store(s);
    if (!store || store->buffer != t.original) return {};
    std::vector<expr> indices;
    for (const expr& e : store->indices) indices.push_back(substitute(e, map));
    if (!same_indices(indices, t.indices) || !same_indices(guards, t.guards)) return {};
    bool reads_itself = false;
    for_each_expr(store->value, [&](const expr& e) {
      reads_itself = reads_itself || (e->op == op::load && e->buffer == t.original);
    });
    return reads_itself
               ? stmt{}
               : copies(t, make_store(t.accumulators, t.local, substitute(store->value, map)));
  }

  const accumulator_limits& limits_;
  buffer_set accumulators_;
  std::vector<const loop_node*> parallel_;  // around the loop
};

}  // namespace tilewright::pass::detail::promote

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function promote_accumulators(const ir::function& f,
                                                    const accumulator_limits& limits) {
  ir::function out = f;
  out.body = detail::promote::promoter(limits).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
