#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/vectorize_unmarked.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::pass {
namespace detail::unmarked {

using namespace tilewright::ir;

/// Whether somebody has decided what the lanes, or the threads, of what is below the loop are.
inline bool is_decided(const loop_node& l) {
  return l.loop == loop_kind::vectorized || l.loop == loop_kind::thread_binding;
}

/// Elements by which an access moves when `v` takes a step; nothing when that is no constant.
inline std::optional<std::int64_t> step_along(const buffer& b, const std::vector<expr>& indices,
                                              const var& v) {
  std::int64_t step = 0, stride = 1;
  for (std::size_t d = indices.size(); d-- > 0;) {
    std::int64_t along = 0;
    for (const auto& [term, coefficient] : arith::to_linear(indices[d]).terms) {
      if (term.same(v))
        along = coefficient;
      else if (uses_var(term, v))
        return std::nullopt;
    }
    if (reads_memory(indices[d])) return std::nullopt;
    if (!b->strides.empty()) stride = is_int(b->strides[d]) ? b->strides[d]->integer : 0;
    if (along != 0 && stride == 0) return std::nullopt;  // not known before the call
    step += along * stride;
    if (b->strides.empty()) stride = is_int(b->shape[d]) ? stride * b->shape[d]->integer : 0;
  }
  return step;
}

/// A block with its indices in terms of the loops around it.
class placed_block {
 public:
  explicit placed_block(const block_realize_node& realize)
      : realize_(realize), store_(as_store(realize.block->body)) {
    for (std::size_t i = 0; i < realize.values.size(); ++i)
      at_[realize.block->iters[i].var] = realize.values[i];
  }

  /// It does nothing but store one element.
  bool stores_one() const {
    const block_node& b = *realize_.block;
    return store_ && (!b.init || as_store(b.init)) && b.match_buffers.empty() &&
           b.alloc_buffers.empty() && !store_->indices.empty();
  }
  bool drives(const var& v, iter_kind kind) const {
    for (std::size_t i = 0; i < realize_.values.size(); ++i)
      if (realize_.block->iters[i].kind == kind && uses_var(realize_.values[i], v)) return true;
    return false;
  }
  /// Instances write side by side along `v`, which drives spatial variables alone.
  bool writes_along(const var& v) const {
    for (std::size_t i = 0; i < realize_.values.size(); ++i)
      if (uses_var(realize_.values[i], v) && realize_.block->iters[i].kind != iter_kind::spatial)
        return false;
    return step(store_->buffer, store_->indices, v) == 1;
  }
  /// Iterations of `v` write other elements than each other, whatever the loops inside of it do.
  bool writes_apart(const var& v, std::int64_t extent, const std::vector<var>& inside) const {
    return support::any(store_->indices, [&](const expr& index) {
      bool apart = false, mixed = false;
      for (const auto& [term, coefficient] : arith::to_linear(substitute(index, at_)).terms) {
        if (term.same(v))
          apart = coefficient == 1;
        else
          mixed = mixed || uses_var(term, v) ||
                  (coefficient % extent != 0 &&
                   support::any(inside, [&, t = term](const var& w) { return uses_var(t, w); }));
      }
      return apart && !mixed;
    });
  }
  /// Why vectors along `v` cannot be loaded; empty when they can.
  std::string obstacle(const var& v, std::int64_t most_spread) const {
    std::string out;
    for_each_expr(store_->value, [&](const expr& e) {
      if (!out.empty()) return;
      if (e->op == op::call && !is_float(e.type())) out = "it calls " + e->name;
      if (e->op == op::data || e->op == op::let) out = "it hands out memory";
      if (e->op != op::load) return;
      if (e->buffer == store_->buffer) {
        if (!same_indices(e->args, store_->indices))
          out = "it reads other elements of " + e->buffer->name + ", which it writes";
        return;
      }
      const std::optional<std::int64_t> by = step(e->buffer, e->args, v);
      if (!by)
        out = e->buffer->name + " is read at places that do not follow loop " + v->name;
      else if (*by < 0 || *by > most_spread)
        out = e->buffer->name + " is read every " + std::to_string(*by) + " elements along loop " +
              v->name;
    });
    return out;
  }

  const store_node& store() const { return *store_; }

 private:
  std::optional<std::int64_t> step(const buffer& b, const std::vector<expr>& indices,
                                   const var& v) const {
    std::vector<expr> placed;
    for (const expr& e : indices) placed.push_back(substitute(e, at_));
    return step_along(b, placed, v);
  }

  const block_realize_node& realize_;
  const store_node* store_;
  var_map at_;
};

/// Elements from lane to lane at which vectors are still loaded whole.
inline constexpr std::int64_t most_spread = 4;

/// Whether the iterations of the loop of `v` around the block can be lanes.
inline bool can_be_lanes(const block_realize_node& realize, const var& v) {
  const placed_block b(realize);
  return b.stores_one() && b.writes_along(v) && b.obstacle(v, most_spread).empty();
}

class vectorizer : public mutator {
 public:
  explicit vectorizer(const target::cpu& target) : target_(target) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* l = as_loop(s);
    if (!l) return mutator::mutate(s);
    if (is_decided(*l)) return s;
    if (const block_realize_node* realize = only_block(l->body)) {
      // the innermost loop that can be vectorized
      stmt inner = mutate(l->body);
      if (inner.get() != l->body.get()) return with_body(*l, std::move(inner));
      return vectorized(*l, *realize).value_or(s);
    }
    return mutator::mutate(s);
  }

 private:
  /// The block below a chain of loops of which none is decided; null when there is anything else.
  static const block_realize_node* only_block(const stmt& s) {
    if (const loop_node* l = as_loop(s)) return is_decided(*l) ? nullptr : only_block(l->body);
    return as_realize(s);
  }

  std::optional<stmt> vectorized(const loop_node& l, const block_realize_node& realize) {
    const std::int64_t extent = constant_extent(l);
    const store_node* store = as_store(realize.block->body);
    if (l.loop != loop_kind::serial || !store || !is_int(l.min, 0)) return std::nullopt;
    const std::int64_t lanes = target_.lanes(store->buffer->type);
    if (extent < lanes || !can_be_lanes(realize, l.var) || moves_bounds(l.body, l.var))
      return std::nullopt;
    // the loops inside go around the lanes
    std::vector<var> inside;
    for (const loop_node* x = as_loop(l.body); x; x = as_loop(x->body)) inside.push_back(x->var);
    if (!inside.empty() && !placed_block(realize).writes_apart(l.var, extent, inside))
      return std::nullopt;
    std::int64_t width = lanes;
    while (width < most_vectors * lanes && extent % (2 * width) == 0) width *= 2;
    const dtype type = l.var.type();
    const var outer = make_var(l.var->name + "_0", type), lane = make_var(l.var->name + "_1", type);
    const expr at = outer * integer(type, width) + lane;
    // beyond its end, a guard that loads has nothing to load
    if (extent % width != 0 && reads_memory(realize.predicate)) return std::nullopt;
    stmt body = substitute(l.body, {{l.var, at}});
    if (extent % width != 0) body = guarded{lt(at, integer(type, extent))}.mutate(body);
    body = make_loop(lane, integer(type, 0), integer(type, width), std::move(body),
                     loop_kind::vectorized);
    return make_loop(outer, integer(type, 0), integer(type, (extent + width - 1) / width),
                     std::move(body), loop_kind::serial, l.annotations);
  }

  /// Whether a loop around the block runs as often as an iteration of `v` says.
  static bool moves_bounds(const stmt& s, const var& v) {
    const loop_node* l = as_loop(s);
    return l && (uses_var(l->min, v) || uses_var(l->extent, v) || moves_bounds(l->body, v));
  }

  /// Adds a condition to the guard of the block.
  struct guarded : mutator {
    explicit guarded(expr c) : condition(std::move(c)) {}
    using mutator::mutate;
    stmt mutate(const stmt& s) override {
      const block_realize_node* r = as_realize(s);
      if (!r) return mutator::mutate(s);
      return make_realize(r->values,
                          is_true(r->predicate) ? condition : logical_and(r->predicate, condition),
                          r->block);
    }
    expr condition;
  };

  static constexpr std::int64_t most_vectors = 4;
  const target::cpu& target_;
};

/// Finds what no loop vectorizes.
class scalars : public visitor {
 public:
  using visitor::visit;
  void visit(const stmt& s) override {
    if (const loop_node* l = as_loop(s)) {
      loops_.push_back(l);
      visit(l->body);
      loops_.pop_back();
    } else if (const block_realize_node* realize = as_realize(s)) {
      look(*realize);
      visitor::visit(s);
    } else {
      visitor::visit(s);
    }
  }
  std::vector<std::string> found;

 private:
  void look(const block_realize_node& realize) {
    constexpr double often = 4096;
    double runs = 1;
    for (const loop_node* l : loops_) {
      if (l->loop == loop_kind::vectorized) return;
      runs *= static_cast<double>(std::max<std::int64_t>(constant_extent(*l), 1));
    }
    const placed_block b(realize);
    if (runs < often || !as_store(realize.block->body)) return;
    const std::string why = reason(b);
    if (!why.empty())
      found.push_back("block " + realize.block->name + " is not vectorized: " + why);
  }

  std::string reason(const placed_block& b) const {
    if (!b.stores_one()) return "it does more than to store one element";
    for (const loop_node* l : loops_)
      if (b.drives(l->var, iter_kind::reduce) && b.obstacle(l->var, 1).empty()) return {};
    std::string why = "no loop moves along neighbouring elements of " + b.store().buffer->name;
    for (const loop_node* l : loops_) {
      if (!b.writes_along(l->var)) continue;
      const std::string obstacle = b.obstacle(l->var, most_spread);
      why = obstacle.empty()
                ? "loop " + l->var->name + " is shorter than a vector, or was left as it is"
                : obstacle;
    }
    return why;
  }

  std::vector<const loop_node*> loops_;
};

}  // namespace detail::unmarked

TILEWRIGHT_INLINE ir::function vectorize_unmarked(const ir::function& f,
                                                  const target::cpu& target) {
  ir::function out = f;
  out.body = detail::unmarked::vectorizer(target).mutate(f.body);
  return out;
}

TILEWRIGHT_INLINE std::vector<std::string> scalar_blocks(const ir::function& f,
                                                         const target::cpu& target) {
  detail::unmarked::scalars out;
  out.visit(vectorize_unmarked(f, target).body);
  return std::move(out.found);
}

}  // namespace tilewright::pass
