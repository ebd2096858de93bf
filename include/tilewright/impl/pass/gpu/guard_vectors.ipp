#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/gpu/guard_vectors.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::guarded_vectors {

using namespace tilewright::ir;

inline std::int64_t remainder(std::int64_t value, std::int64_t of) {
  return (value % of + of) % of;
}

/// Whether the condition is the same for all lanes: rest + lane + c <= 0 or rest - lane + c <= 0, where the
/// rest is a multiple of the lanes, and so is the bound.
inline bool holds_for_vectors(const expr& condition, const loop_node& lanes) {
  if (!uses_var(condition, lanes.var)) return true;
  const std::optional<arith::linear> sum = as_nonpositive(condition);
  const std::int64_t count = constant_extent(lanes);
  if (!sum) return false;
  for (const auto& [term, factor] : sum->terms) {
    const bool lane = term.same(lanes.var);
    if (lane ? factor != 1 && factor != -1 : factor % count != 0 || uses_var(term, lanes.var))
      return false;
  }
  const std::int64_t last = sum->coefficient(lanes.var) == 1 ? count - 1 : 0;
  return remainder(-sum->constant, count) == last;
}

class guarder : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    const loop_node* lanes = as_loop(s);
    if (!lanes || lanes->loop != loop_kind::vectorized) return mutator::mutate(s);
    if (!is_int(lanes->min, 0) || constant_extent(*lanes) < 1) return mutator::mutate(s);
    if (const store_node* to = as_store(lanes->body)) return guard_value(s, *lanes, *to);
    const if_node* branch = as_if(lanes->body);
    if (!branch || branch->else_body) return mutator::mutate(s);
    for (const expr& part : conjuncts(branch->condition))
      if (!holds_for_vectors(part, *lanes)) return s;
    const expr whole = substitute(branch->condition, {{lanes->var, integer(lanes->var.type(), 0)}});
    return make_if(arith::simplify(whole), with_body(*lanes, branch->then_body));
  }

 private:
  /// Of a store of what is loaded where a condition holds, and of something else elsewhere, the condition.
  static stmt guard_value(const stmt& s, const loop_node& lanes, const store_node& to) {
    const expr& v = to.value;
    if ((v->op != op::if_then_else && v->op != op::select) || !uses_var(v->args[0], lanes.var))
      return s;
    for (const expr& part : conjuncts(v->args[0]))
      if (!holds_for_vectors(part, lanes)) return s;
    const expr whole =
        arith::simplify(substitute(v->args[0], {{lanes.var, integer(lanes.var.type(), 0)}}));
    return with_body(lanes,
                     make_store(to.buffer, to.indices,
                                v->op == op::select ? select(whole, v->args[1], v->args[2])
                                                    : if_then_else(whole, v->args[1], v->args[2])));
  }
};

}  // namespace tilewright::pass::detail::guarded_vectors

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function guard_vectors(const ir::function& f) {
  ir::function out = f;
  out.body = detail::guarded_vectors::guarder{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
