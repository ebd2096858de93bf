#pragma once

#include <algorithm>
#include <utility>

#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/written_out.hpp>
#include <tilewright/ir/storage_scope.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/unroll_registers.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::register_loops {

using namespace tilewright::ir;

/// Whether the loop's variable says which of a thread's own elements are used.
inline bool chooses_registers(const loop_node& loop) {
  bool out = false;
  const auto look = [&](const buffer& b, const std::vector<expr>& indices) {
    if (storage_rank(b->scope) < 2) return;
    for (const expr& i : indices) out = out || uses_var(i, loop.var);
  };
  for_each_stmt(loop.body, [&](const stmt& s) {
    if (const store_node* to = as_store(s)) look(to->buffer, to->indices);
  });
  for_each_expr(loop.body, [&](const expr& e) {
    if (e->op == op::load) look(e->buffer, e->args);
  });
  return out;
}

class unroller : public mutator {
 public:
  explicit unroller(const register_limits& limits) : limits_(limits) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    const std::int64_t outer_step = step_;
    step_ = std::max(step_, unroll_step_of(*loop));
    const stmt body = mutate(loop->body);
    const choice what = choose(*loop, body);
    step_ = outer_step;
    const stmt out = what.kind == loop->loop ? (body == loop->body ? s : with_body(*loop, body))
                                             : with_kind(*loop, what.kind, body);
    return what.rolled ? noted(*as_loop(out)) : out;
  }

 private:
  struct choice {
    loop_kind kind;
    bool rolled = false;
  };

  choice choose(const loop_node& loop, const stmt& body) const {
    if (loop.loop != loop_kind::serial && loop.loop != loop_kind::unrolled) return {loop.loop};
    const std::int64_t extent = constant_extent(loop);
    if (any_stmt(body, is_barrier)) return {loop_kind::serial, true};
    const std::int64_t each = written_out(body, [](const loop_node&) { return std::int64_t{1}; });
    if (extent <= 0 || extent * each > limits_.max_statements)
      return {loop_kind::serial, each > limits_.max_statements / 4};
    const bool wanted = loop.loop == loop_kind::unrolled || extent * each <= step_ ||
                        (extent <= limits_.max_extent && chooses_registers(loop));
    return {wanted ? loop_kind::unrolled : loop_kind::serial};
  }

  static stmt noted(const loop_node& loop) {
    annotations notes = loop.annotations;
    notes[rolled_note] = 1;
    return make_loop(loop.var, loop.min, loop.extent, loop.body, loop.loop, std::move(notes),
                     loop.thread_tag);
  }

  const register_limits& limits_;
  std::int64_t step_ = 0;  // statements that loops around ask for
};

}  // namespace tilewright::pass::detail::register_loops

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function unroll_registers(const ir::function& f,
                                                const register_limits& limits) {
  ir::function out = f;
  out.body = detail::register_loops::unroller(limits).mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
