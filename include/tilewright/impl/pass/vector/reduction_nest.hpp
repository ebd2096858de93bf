// A reduction under loops that do nothing else, and how its operands lie along the innermost one.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/pass/accumulation.hpp>
#include <tilewright/impl/pass/vector/placed_block.hpp>
#include <tilewright/ir/analysis/short_table.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::pass::detail::reductions {

using namespace tilewright::ir;

/// An accumulation under the loops `chain`, outermost first.
struct reduction {
  std::vector<const loop_node*> chain;
  accumulation step;
};

/// What is accumulated reads no accumulator, and the loops do not move those.
inline bool stays_put(const reduction& r) {
  bool fine = true;
  if (r.step.combine != op::call)
    for (const expr& value : r.step.value)
      for_each_expr(value, [&](const expr& e) {
        for (const buffer& to : r.step.to) fine = fine && !(e->op == op::load && e->buffer == to);
      });
  for (const std::vector<expr>& at : r.step.at)
    for (const expr& e : at)
      for (const loop_node* l : r.chain) fine = fine && !uses_var(e, l->var);
  return fine;
}

inline std::optional<reduction> match(const loop_node& outermost) {
  reduction r;
  const loop_node* loop = &outermost;
  while (loop && loop->loop == loop_kind::serial && is_reduction(*loop)) {
    r.chain.push_back(loop);
    if (!as_loop(loop->body)) break;
    loop = as_loop(loop->body);
  }
  if (!loop || r.chain.empty() || r.chain.back() != loop) return std::nullopt;
  std::optional<accumulation> step = match_accumulation(*loop);
  if (!step) return std::nullopt;
  r.step = std::move(*step);
  return stays_put(r) ? std::optional(std::move(r)) : std::nullopt;
}

/// The load, which changes with `k`, reads the next element.
inline bool reads_next(const expr& load, const var& k) {
  const std::vector<expr>& strides = load->buffer->strides;
  if (!strides.empty() && !is_int(strides.back(), 1)) return false;
  for (std::size_t d = 0; d + 1 < load->args.size(); ++d)
    if (uses_var(load->args[d], k)) return false;
  const arith::linear last = arith::to_linear(load->args.back());
  for (const auto& [term, factor] : last.terms)
    if (term.same(k) ? factor != 1 : uses_var(term, k)) return false;
  return true;
}

/// Every load that changes with `k` reads the next element, or one of the next few, or a short table at places that do.
inline bool lies_along(const expr& e, const var& k) {
  if (e->op == op::if_then_else && uses_var(e->args[0], k)) return false;
  if (e->op == op::load && uses_var(e, k)) {
    if (reads_next(e, k)) return true;
    if (reads_short_table(e)) {
      for (std::size_t d = 0; d + 1 < e->args.size(); ++d)
        if (uses_var(e->args[d], k)) return false;
      return lies_along(e->args.back(), k);
    }
    const std::optional<std::int64_t> step = unmarked::step_along(e->buffer, e->args, k);
    return step && *step >= 1 && *step <= target::cheap_lane_step;
  }
  for (const expr& arg : e->args)
    if (!lies_along(arg, k)) return false;
  return true;
}

inline bool loads_along(const expr& e, const var& k) {
  if (e->op == op::load && uses_var(e, k)) return true;
  for (const expr& arg : e->args)
    if (loads_along(arg, k)) return true;
  return false;
}

inline bool calls(const expr& e) {
  bool found = false;
  for_each_expr(e, [&](const expr& x) { found = found || x->op == op::call; });
  return found;
}

}  // namespace tilewright::pass::detail::reductions
