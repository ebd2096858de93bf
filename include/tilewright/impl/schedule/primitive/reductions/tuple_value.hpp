// Values of a reduction of tuples: how each one is combined, and the block that reduces all of them.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/schedule/analysis/reducer.hpp>
#include <tilewright/impl/schedule/analysis/reduction_form.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail::joining {

using values = std::vector<ir::expr>;

/// One value of the tuple.
struct component {
  ir::buffer to;
  values at;          // where an instance stores it
  ir::expr identity;  // a literal
  ir::expr element;   // what an instance combines into it
  commutative_reducer plain;
  int scaled_by = -1;  // the component whose growth scales this sum; -1: none, and `plain` combines
};

inline bool is_nest_of_its_own(const block_scope& scope, std::size_t child) {
  const child_block& c = scope[child];
  for (std::size_t other = 0; other < scope.size(); ++other)
    if (other != child && scope.common_loops(child, other) > 0) return false;
  const auto plain = [](const ir::loop_node* l) {
    return l->loop == ir::loop_kind::serial && l->annotations.empty() && ir::is_int(l->min, 0);
  };
  return !c.conditional && !c.loops.empty() && support::all(c.loops, plain) &&
         is_trivial_binding(c) && ir::is_true(c.realize->predicate);
}

/// What a block computes that is a reduction of one value and a nest of its own.
inline std::optional<component> single_of(const block_scope& scope, std::size_t child) {
  const child_block& c = scope[child];
  if (!c.block().init || !is_nest_of_its_own(scope, child) || !is_reduction(scope, child))
    return std::nullopt;
  reduction_form form;
  if (!find_reduction_form(c.block(), form).empty() || form.stores.size() != 1 ||
      !c.block().annotations.empty())
    return std::nullopt;
  const ir::store_node& store = *form.stores[0];
  std::optional<matched_reducer> found =
      match_reducer(form.identity, {ir::load(store.buffer, store.indices)}, form.updates);
  if (!found || ir::loads_from(found->right[0], store.buffer)) return std::nullopt;
  return component{store.buffer, store.indices, form.identity[0], found->right[0], found->found};
}

inline bool same_list(const values& a, const values& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!ir::equal(a[i], b[i])) return false;
  return true;
}

/// `e` without its factor exp(x - peak); nothing where it has not one such factor, or `peak` elsewhere.
inline std::optional<ir::expr> without_scale(const ir::expr& e, const ir::expr& x,
                                             const ir::expr& peak) {
  if (e->op == ir::op::call && e->name == "exp" && e->args[0]->op == ir::op::sub) {
    const values& terms = e->args[0]->args;
    if (ir::equal(terms[0], x) && ir::equal(terms[1], peak)) return ir::literal(e.type(), 1);
    return std::nullopt;
  }
  if (e->op != ir::op::mul && e->op != ir::op::div) return std::nullopt;
  const bool left = ir::loads_from(e->args[0], peak->buffer),
             right = ir::loads_from(e->args[1], peak->buffer);
  if (left == right || (right && e->op == ir::op::div)) return std::nullopt;
  const std::optional<ir::expr> inner = without_scale(e->args[left ? 0 : 1], x, peak);
  if (!inner) return std::nullopt;
  return left ? ir::with_args(e, {*inner, e->args[1]}) : ir::with_args(e, {e->args[0], *inner});
}

inline double largest_finite(dtype type) {
  return type == dtype::f64    ? 0x1.fffffffffffffp1023
         : type == dtype::f32  ? 0x1.fffffep127
         : type == dtype::bf16 ? 0x1.fep127
                               : 65504.0;
}

/// Makes `p`, which needs `peak` while it runs, a sum that is scaled as `peak` grows.
/// @param position of `peak` in the tuple
/// @param at what `p` calls the result of `peak`, and `x` the element of which that is the maximum
/// @returns whether it is such a sum
inline bool scale_by(component& p, component& peak, std::size_t position, const ir::expr& at,
                     const ir::expr& x) {
  if (peak.plain.name != "max" || peak.scaled_by >= 0 || p.plain.name != "sum" ||
      !is_float(p.to->type) || peak.to->type != p.to->type)
    return false;
  const std::optional<ir::expr> factors = without_scale(p.element, x, at);
  if (!factors) return false;
  p.element = *factors;
  p.scaled_by = static_cast<int>(position);
  // two of minus infinity have no difference
  if (std::isinf(peak.identity->real))
    peak.identity = ir::real(peak.to->type, -largest_finite(peak.to->type));
  return true;
}

/// What two tuples combine to. Of two sums that are scaled by maxima, the one of the greater maximum is
/// taken as it is: one exponential serves both.
inline values combine(const std::vector<component>& parts, const values& l, const values& r) {
  values out;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const component& p = parts[c];
    if (p.scaled_by < 0) {
      out.push_back(p.plain.combine({l[c]}, {r[c]})[0]);
      continue;
    }
    const auto b = static_cast<std::size_t>(p.scaled_by);
    const dtype type = p.to->type;
    const ir::expr apart = ir::call(type, "abs", {l[b] - r[b]}),
                   less = ir::call(type, "exp", {ir::real(type, 0) - apart}),
                   peak = ir::max(l[b], r[b]);
    // relative to an infinity every sum is NaN
    out.push_back(ir::select(ir::lt(l[b], r[b]), l[c] * less + r[c], l[c] + r[c] * less) +
                  (peak - peak));
  }
  return out;
}

/// Makes the block reduce the tuple of `parts`, into which an instance combines `elements`.
inline void reduce_tuple(ir::block_node& block, const std::vector<component>& parts,
                         const values& elements) {
  std::vector<ir::stmt> inits, stores;
  values identity, left, right, accumulated, temporaries;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const component& p = parts[c];
    inits.push_back(ir::make_store(p.to, p.at, p.identity));
    identity.push_back(p.identity);
    accumulated.push_back(ir::load(p.to, p.at));
    left.push_back(ir::reducer_operand(p.to->type, c));
    right.push_back(ir::reducer_operand(p.to->type, parts.size() + c));
  }
  const values updates = combine(parts, accumulated, elements);
  for (std::size_t c = 0; c < parts.size(); ++c) {
    temporaries.push_back(ir::make_var("v_" + parts[c].to->name, parts[c].to->type));
    stores.push_back(ir::make_store(parts[c].to, parts[c].at, temporaries[c]));
  }
  block.body = ir::make_seq(std::move(stores));
  for (std::size_t c = parts.size(); c-- > 0;)
    block.body = ir::make_let(temporaries[c], updates[c], block.body);
  block.init = ir::make_seq(std::move(inits));
  block.writes.clear();
  for (const component& p : parts) block.writes.push_back({p.to, ir::point_box(p.at)});
  block.annotations[ir::reducer_note] =
      ir::print(ir::comm_reducer{identity, combine(parts, left, right)});
}

}  // namespace tilewright::primitive::detail::joining
