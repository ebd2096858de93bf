#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/vector/vectorize_staged.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::pass {
namespace detail::staged {

using namespace tilewright::ir;

/// Terms of a sum that pay for a result whose lanes are stored one by one.
inline constexpr std::int64_t many_terms = 16;

/// Loops around stores to one element, those around others first, and the stores.
class sums {
 public:
  /// What stands below `s`, when that is such a nest.
  static std::optional<sums> below(const stmt& s) {
    sums out;
    if (!out.collect(s) || out.stores_.empty()) return std::nullopt;
    const bool reduces = support::any(out.loops_, [](const auto* l) { return is_reduction(*l); });
    return reduces ? std::optional(std::move(out)) : std::nullopt;
  }

  /// The loop whose iterations had better be lanes; null where there is none.
  const loop_node* lanes(const target::cpu& target, const buffer_set& own) const {
    const dtype type = stores_[0]->buffer->type;
    if (target.lanes(type) < 2 || sums_fill_vectors(target.lanes(type))) return nullptr;
    const loop_node* best = nullptr;
    std::int64_t most = 16 / bytes(type);
    for (const loop_node* l : loops_) {
      const std::int64_t lanes = std::min<std::int64_t>(constant_extent(*l), target.lanes(type));
      if (lanes < most || !can_be_lanes(*l, own, target)) continue;
      most = lanes;
      best = l;
    }
    return best;
  }

 private:
  bool collect(const stmt& s) {
    if (const loop_node* l = as_loop(s)) {
      const bool plain = l->loop == loop_kind::serial || l->loop == loop_kind::unrolled;
      if (!plain || !is_int(l->min) || constant_extent(*l) == 0) return false;
      loops_.push_back(l);
      return collect(l->body);
    }
    if (const seq_node* seq = as_seq(s))
      return support::all(seq->stmts, [&](const stmt& part) { return collect(part); });
    if (const if_node* n = as_if(s))
      return !n->else_body && !reads_memory(n->condition) && collect(n->then_body);
    const store_node* store = as_store(s);
    if (!store || store->indices.empty()) return false;
    const bool same = stores_.empty() || (store->buffer == stores_[0]->buffer &&
                                          same_indices(store->indices, stores_[0]->indices));
    stores_.push_back(store);
    return same;
  }

  bool can_be_lanes(const loop_node& l, const buffer_set& own, const target::cpu& target) const {
    if (l.loop != loop_kind::serial || is_reduction(l)) return false;
    const store_node& store = *stores_[0];
    const std::optional<std::size_t> moved = moves_dimension(store.indices, l.var, 1);
    if (!moved) return false;
    const expr& index = store.indices[*moved];
    const auto inside = std::find(loops_.begin(), loops_.end(), &l) + 1;
    for (auto other = inside; other != loops_.end(); ++other)
      if (!is_unit(**other) && uses_var(index, (*other)->var)) return false;
    const bool last = unmarked::step_along(store.buffer, store.indices, l.var) == 1;
    if (!last && !can_be_ordered(store.buffer, own) && !stays_in_registers(l, target)) return false;
    return support::all(stores_, [&](const store_node* s) { return loads_lanes(*s, l.var, own); });
  }

  bool loads_lanes(const store_node& store, const var& v, const buffer_set& own) const {
    bool fits = true;
    for_each_expr(store.value, [&](const expr& e) {
      if (e->op == op::data || e->op == op::let || (e->op == op::call && !unmarked::has_lanes(e)))
        fits = false;
      if (e->op != op::load || !fits) return;
      if (e->buffer == store.buffer) {
        fits = same_indices(e->args, store.indices);
        return;
      }
      const std::optional<std::int64_t> by = unmarked::step_along(e->buffer, e->args, v);
      fits =
          (by && *by >= 0 && *by <= target::cheap_lane_step) ||
          (can_be_ordered(e->buffer, own) && moves_dimension(e->args, v, target::cheap_lane_step));
    });
    return fits;
  }

  /// Whether order_dimensions may make any dimension of the buffer its last one.
  static bool can_be_ordered(const buffer& b, const buffer_set& own) {
    return b->strides.empty() && own.count(b) != 0;
  }

  /// Whether nothing but many terms stands inside of the loop, and registers hold the sums of all lanes meanwhile.
  bool stays_in_registers(const loop_node& l, const target::cpu& target) const {
    std::int64_t terms = 1;
    for (auto inner = std::find(loops_.begin(), loops_.end(), &l) + 1; inner != loops_.end();
         ++inner) {
      if (!is_reduction(**inner) && !is_unit(**inner)) return false;
      terms *= constant_extent(**inner);
    }
    const std::int64_t lanes = target.lanes(stores_[0]->buffer->type);
    return terms >= many_terms && constant_extent(l) <= lanes * target.vector_registers / 2;
  }

  /// The only dimension that moves with `v`, when it does so by 1 to `most`.
  static std::optional<std::size_t> moves_dimension(const std::vector<expr>& indices, const var& v,
                                                    std::int64_t most) {
    std::optional<std::size_t> out;
    for (std::size_t d = 0; d < indices.size(); ++d) {
      if (!uses_var(indices[d], v)) continue;
      const arith::linear sum = arith::to_linear(indices[d]);
      const bool elsewhere = support::any(
          sum.terms, [&](const auto& t) { return !t.first.same(v) && uses_var(t.first, v); });
      const std::int64_t by = sum.coefficient(v);
      if (out || elsewhere || by < 1 || by > most || reads_memory(indices[d])) return std::nullopt;
      out = d;
    }
    return out;
  }

  /// Whether the innermost loop adds up what lies side by side along it, some vectors of it.
  bool sums_fill_vectors(std::int64_t lanes) const {
    const loop_node& inner = *loops_.back();
    if (!is_reduction(inner) || constant_extent(inner) < 2 * lanes) return false;
    bool side_by_side = true;
    for (const store_node* store : stores_)
      for_each_expr(store->value, [&](const expr& e) {
        if (e->op != op::load || e->buffer == store->buffer) return;
        const std::optional<std::int64_t> by = unmarked::step_along(e->buffer, e->args, inner.var);
        side_by_side = side_by_side && by && (*by == 0 || *by == 1);
      });
    return side_by_side;
  }

  std::vector<const loop_node*> loops_;
  std::vector<const store_node*> stores_;
};

class vectorizer : public mutator {
 public:
  explicit vectorizer(const target::cpu& target) : target_(target) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const allocate_node* a = as_allocate(s)) {
      own_.insert(a->buffer);
      stmt out = mutator::mutate(s);
      own_.erase(a->buffer);
      return out;
    }
    const loop_node* l = as_loop(s);
    if (!l) return mutator::mutate(s);
    if (l->loop == loop_kind::vectorized) return s;
    if (l == chosen_) return with_kind(*l, loop_kind::vectorized, l->body);
    if (chosen_) return mutator::mutate(s);
    const std::optional<sums> nest = sums::below(s);
    if (!nest) return mutator::mutate(s);
    chosen_ = nest->lanes(target_, own_);
    stmt out = chosen_ ? mutate(s) : s;
    chosen_ = nullptr;
    return out;
  }

 private:
  const target::cpu& target_;
  buffer_set own_;                     // that the function allocates, where it is
  const loop_node* chosen_ = nullptr;  // inside of what is mutated
};

}  // namespace detail::staged

TILEWRIGHT_INLINE ir::function vectorize_staged(const ir::function& f, const target::cpu& target) {
  ir::function out = f;
  out.body = detail::staged::vectorizer(target).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
