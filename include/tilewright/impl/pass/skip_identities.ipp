#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/impl/pass/accumulators/sum_parts.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/pass/guards.hpp>
#include <tilewright/pass/skip_identities.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail::identities {

using namespace tilewright::ir;

inline bool is_identity(op o, const expr& e) {
  if (e->op != op::integer && e->op != op::real) return false;
  const double value = e->op == op::real ? e->real : static_cast<double>(e->integer);
  if (o == op::add) return value == 0;
  if (o == op::mul) return value == 1;
  const expr bound = o == op::max ? lowest_value(e.type()) : highest_value(e.type());
  return bound->op == op::real ? value == bound->real : e->integer == bound->integer;
}

/// A value under a condition without which it is the identity.
struct choice {
  expr condition, value;
};

inline expr both(const expr& a, const expr& b) { return a && b ? logical_and(a, b) : a ? a : b; }

/// What of a condition becomes a branch, and what stays a choice inside of it; null for nothing.
struct division {
  expr branch, rest;
};

inline division whole(const expr& condition) { return {condition, {}}; }

/// A term of a reduction by `o` that may be the identity. With `products`, a term of a sum that may be
/// zero, also because a factor may.
template <class Divide>
std::optional<choice> identity_unless(op o, const expr& e, bool products, const Divide& divide) {
  products = products && o == op::add;
  if (e->op == op::select || e->op == op::if_then_else) {
    if (!is_identity(o, e->args[2])) return std::nullopt;
    const division condition = divide(e->args[0]);
    choice out{condition.branch, e->args[1]};
    if (products)
      if (std::optional<choice> inner = identity_unless(o, e->args[1], products, divide))
        out = {both(out.condition, inner->condition), std::move(inner->value)};
    if (!out.condition) return std::nullopt;
    if (condition.rest) out.value = with_args(e, {condition.rest, out.value, e->args[2]});
    return out;
  }
  if (!products || (e->op != op::mul && e->op != op::cast)) return std::nullopt;
  expr condition;
  std::vector<expr> args = e->args;
  for (expr& factor : args)
    if (std::optional<choice> part = identity_unless(o, factor, products, divide)) {
      condition = both(condition, part->condition);
      factor = std::move(part->value);
    }
  if (!condition) return std::nullopt;
  return choice{std::move(condition), with_args(e, std::move(args))};
}

class skipper : public mutator {
 public:
  using mutator::mutate;

  stmt mutate(const stmt& s) override {
    if (const loop_node* loop = as_loop(s)) {
      const bool outside = std::exchange(in_reduction_, in_reduction_ || is_reduction(*loop));
      const auto note = loop->annotations.find(skip_zeros_note);
      const bool asked = note != loop->annotations.end() && !(note->second == attr(0));
      const bool before = std::exchange(products_, products_ || asked);
      const bool free = std::exchange(
          in_order_, in_order_ || (is_reduction(*loop) && !promote::has_free_order(*loop)));
      if (loop->loop == loop_kind::vectorized) lanes_.insert(loop->var);
      stmt out = mutator::mutate(s);
      in_reduction_ = outside;
      products_ = before;
      in_order_ = free;
      return out;
    }
    const store_node* store = as_store(s);
    return store && in_reduction_ ? skip(*store, s) : mutator::mutate(s);
  }

 private:
  stmt skip(const store_node& store, const stmt& unchanged) const {
    const expr& v = store.value;
    if (v->op != op::add && v->op != op::mul && v->op != op::max && v->op != op::min)
      return unchanged;
    const expr& old = v->args[0];
    if (old->op != op::load || old->buffer != store.buffer ||
        !same_indices(old->args, store.indices))
      return unchanged;
    const expr& added = v->args[1];
    std::optional<choice> term = identity_unless(v->op, added, products_, whole);
    if (!term && !in_order_ && v->op == op::add && is_float(v.type()))
      term = identity_unless(v->op, added, true, [&](const expr& c) { return remainders(c); });
    if (!term || reads_memory(term->condition) || uses_any(term->condition, lanes_))
      return unchanged;
    return make_if(term->condition,
                   make_store(store.buffer, store.indices, with_args(v, {old, term->value})));
  }

  static bool divides(const expr& condition) {
    bool out = false;
    for_each_expr(condition, [&](const expr& e) { out = out || e->op == op::floormod; });
    return out;
  }

  /// Whether a remainder fits becomes a branch, where it is the same for all lanes.
  division remainders(const expr& condition) const {
    std::vector<expr> fits, others;
    for (const expr& part : conjuncts(condition))
      (divides(part) && !reads_memory(part) && !uses_any(part, lanes_) ? fits : others)
          .push_back(part);
    if (fits.empty()) return {{}, condition};
    return {conjunction(fits), others.empty() ? expr{} : conjunction(others)};
  }

  bool in_reduction_ = false, products_ = false, in_order_ = false;
  var_set lanes_;
};

}  // namespace tilewright::pass::detail::identities

namespace tilewright::pass {

TILEWRIGHT_INLINE ir::function skip_identities(const ir::function& f) {
  if (ir::keeps_term_order(f)) return f;  // the zeros of terms are terms, too
  ir::function out = f;
  out.body = detail::identities::skipper{}.mutate(f.body);
  return out;
}

}  // namespace tilewright::pass
