#pragma once

#include <algorithm>
#include <utility>

#include <tilewright/impl/pass/gpu/barrier.hpp>
#include <tilewright/impl/pass/gpu/tensor/tensor_copy.hpp>
#include <tilewright/impl/pass/unrolled_size.hpp>
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

/// Statements of `s` when a compiler writes out all that it can.
inline std::int64_t at_most(const stmt& s) {
  return unrolled_size(s, [](const loop_node& loop) {
    const bool vectors = loop.loop == loop_kind::vectorized;
    return vectors ? 1 : std::max<std::int64_t>(constant_extent(loop), 1);
  });
}

class unroller : public mutator {
 public:
  explicit unroller(const register_limits& limits) : limits_(limits) {}
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* loop = as_loop(s);
    if (!loop) return mutator::mutate(s);
    if (loop->loop != loop_kind::serial && loop->loop != loop_kind::unrolled)
      return inside(*loop, loop->loop, 1);
    const std::int64_t extent = constant_extent(*loop);
    const bool meets = any_stmt(
        loop->body, [](const stmt& x) { return is_barrier(x) || tensor_copies::is_wait(x); });
    const bool needed = !meets && extent > 0 &&
                        (loop->loop == loop_kind::unrolled ||
                         (extent <= limits_.max_extent && chooses_registers(*loop)));
    // from outside inwards, so that the inner loops are what is written out
    const std::int64_t all = copies_ * std::max<std::int64_t>(extent, 1) * at_most(loop->body);
    if (!needed)
      return meets || all > limits_.max_statements ? noted(inside(*loop, loop_kind::serial, 1))
                                                   : asked(*loop, extent);
    const stmt out = inside(*loop, loop_kind::unrolled, extent);
    const std::int64_t size = unrolled_size(out, unrolled_times);
    return size <= limits_.max_statements
               ? out
               : noted(with_kind(*as_loop(out), loop_kind::serial, as_loop(out)->body));
  }

 private:
  /// The loop of that kind, and what stands in it, of which there are `times` as many copies.
  stmt inside(const loop_node& loop, loop_kind kind, std::int64_t times) {
    const std::int64_t step = step_, copies = copies_;
    step_ = std::max(step_, unroll_step_of(loop));
    copies_ = copies > limits_.max_statements ? copies : copies * times;
    stmt body = mutate(loop.body);
    step_ = step;
    copies_ = copies;
    return with_kind(loop, kind, std::move(body));
  }

  /// Written out where loops around it, or its own annotation, ask for so many statements.
  stmt asked(const loop_node& loop, std::int64_t extent) {
    const stmt out = inside(loop, loop_kind::serial, 1);
    const std::int64_t size = extent * unrolled_size(as_loop(out)->body, unrolled_times);
    return extent > 0 && size <= std::max(step_, unroll_step_of(loop))
               ? with_kind(*as_loop(out), loop_kind::unrolled, as_loop(out)->body)
               : out;
  }

  static stmt noted(const stmt& s) {
    const loop_node& loop = *as_loop(s);
    annotations notes = loop.annotations;
    notes[rolled_note] = 1;
    return make_loop(loop.var, loop.min, loop.extent, loop.body, loop.loop, std::move(notes),
                     loop.thread_tag);
  }

  const register_limits& limits_;
  std::int64_t step_ = 0;    // statements that loops around ask for
  std::int64_t copies_ = 1;  // of what stands here, made by unrolled loops around it
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
