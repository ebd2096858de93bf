#pragma once

#include <cstdint>
#include <optional>

#include <tilewright/impl/pass/vector/joined_copy.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/external.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/vector/vectorize_copies.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::pass {
namespace detail::copies {

using namespace tilewright::ir;

inline bool has_lanes(const store_node& store, const var& v) {
  if (unmarked::step_along(store.buffer, store.indices, v) != 1) return false;
  bool fits = true;
  for_each_expr(store.value, [&](const expr& e) {
    if (e->op == op::data || e->op == op::let ||
        (e->op == op::call && (!is_float(e.type()) || find_external(e->name))))
      fits = false;
    if (e->op != op::load || !fits) return;
    const std::optional<std::int64_t> by = unmarked::step_along(e->buffer, e->args, v);
    fits = e->buffer != store.buffer && by && *by >= 0 && *by <= target::cheap_lane_step;
  });
  return fits;
}

class vectorizer : public mutator {
 public:
  explicit vectorizer(const target::cpu& target) : target_(target) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* l = as_loop(s);
    if (!l) return mutator::mutate(s);
    if (l->loop == loop_kind::vectorized) return s;
    if (std::optional<stmt> row = joined_copy::of(*l, target_)) return std::move(*row);
    return is_copy(*l) ? with_kind(*l, loop_kind::vectorized, l->body) : mutator::mutate(s);
  }

 private:
  bool is_copy(const loop_node& l) const {
    const if_node* guard = as_if(l.body);
    if (guard && (guard->else_body || reads_memory(guard->condition))) return false;
    const store_node* store = as_store(guard ? guard->then_body : l.body);
    if (!store || l.loop != loop_kind::serial || is_reduction(l) || !is_int(l.min)) return false;
    const std::int64_t bytes_stored = constant_extent(l) * bytes(store->buffer->type);
    return bytes_stored >= 16 && target_.lanes(store->buffer->type) > 1 && has_lanes(*store, l.var);
  }

  const target::cpu& target_;
};

}  // namespace detail::copies

TILEWRIGHT_INLINE ir::function vectorize_copies(const ir::function& f, const target::cpu& target) {
  ir::function out = f;
  out.body = detail::copies::vectorizer(target).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
