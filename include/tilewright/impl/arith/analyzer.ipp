#pragma once

#include <algorithm>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/arith/solver.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::arith {

TILEWRIGHT_INLINE const bounds* analyzer::find(const ir::expr_node* v) const noexcept {
  std::size_t lo = 0, hi = vars_.size();
  while (lo < hi) {
    const std::size_t middle = (lo + hi) / 2;
    const ir::expr_node* at = vars_[middle].var.get();
    if (at == v) return &vars_[middle].range;
    if (std::less<>()(at, v))
      lo = middle + 1;
    else
      hi = middle;
  }
  return nullptr;
}

TILEWRIGHT_INLINE bounds& analyzer::entry(const ir::var& v) {
  const auto before = [](const binding& b, const ir::expr_node* node) {
    return std::less<>()(static_cast<const ir::expr_node*>(b.var.get()), node);
  };
  if (vars_.empty()) vars_.reserve(32);  // loops come one by one, and most nests are not deeper
  const auto at = std::lower_bound(vars_.begin(), vars_.end(), v.get(), before);
  if (at != vars_.end() && at->var.same(v)) return at->range;
  return vars_.insert(at, binding{v, is_index(v.type()) ? bounds{} : bounds_of(v.type())})->range;
}

TILEWRIGHT_INLINE void analyzer::bind(const ir::var& v, std::int64_t lo, std::int64_t hi) {
  forget(v);
  entry(v) = {lo, hi};
}

TILEWRIGHT_INLINE void analyzer::forget(const ir::var& v) {
  if ((facts_.empty() && truths_.empty()) || !find(v.get())) return;
  std::erase_if(facts_, [&](const support::ref<const fact>& f) {
    return support::any(f->terms, [&](const ir::expr& term) { return ir::uses_var(term, v); });
  });
  std::erase_if(truths_, [&](const ir::expr& e) { return ir::uses_var(e, v); });
}

TILEWRIGHT_INLINE void analyzer::bind(const ir::var& v, const ir::range& r) {
  const std::int64_t unit = 1;
  if (ir::is_int(r.min) && ir::is_int(r.extent)) {
    std::int64_t last = 0;
    if (!__builtin_add_overflow(r.min->integer, r.extent->integer - unit, &last))
      return bind(v, r.min->integer, last);
  }
  forget(v);
  solver s(*this);
  const form low = s.to_form(r.min);
  form high = s.to_form(r.extent);
  add(high, low);
  add_constant(high, -1);
  const bool known = s.exact(low, r.min.type()) && s.exact(high, r.min.type());
  entry(v) = known ? bounds{s.range(low).lo, s.range(high).hi} : bounds{};
  if (!known || !is_index(v.type())) return;
  form above = single_term(v), below = high;
  add(above, low, -1);
  add_term(below, v, -1);
  if (!low.is_constant()) add_fact(above);
  if (!high.is_constant()) add_fact(below);
}

TILEWRIGHT_INLINE void analyzer::bind(const loop_domains& loops) {
  vars_.reserve(vars_.size() + loops.size());
  for (const auto& [v, r] : loops) bind(v, r);
}

TILEWRIGHT_INLINE bool analyzer::knows(const loop_domains& loops) const noexcept {
  return support::all(loops, [&](const auto& loop) { return find(loop.first.get()) != nullptr; });
}

TILEWRIGHT_INLINE void analyzer::bind_new(const loop_domains& loops) {
  vars_.reserve(vars_.size() + loops.size());
  for (const auto& [v, r] : loops)
    if (!find(v.get())) bind(v, r);
}

TILEWRIGHT_INLINE void analyzer::add_fact(const form& nonnegative) {
  form f = nonnegative;
  if (!f.valid || f.terms.empty()) return;
  if (const std::int64_t g = common_factor(f); g > 1) {
    for (summand& s : f.terms) s.coefficient /= g;
    f.constant = ir::floor_divide(f.constant, g);
  }
  const summand& first = f.terms[0];
  if (f.terms.size() == 1 && ir::is_var(first.term()) && f.constant != bounds::negative_infinity) {
    bounds& b = entry(first.term());
    if (first.coefficient > 0)
      b.lo = std::max(b.lo, -f.constant);
    else
      b.hi = std::min(b.hi, f.constant);
    return;
  }
  auto* known = new fact;
  known->terms.reserve(f.terms.size());
  known->nonnegative = f;
  for (summand& s : known->nonnegative.terms) {
    known->terms.push_back(s.term());
    s.handle = &known->terms.back();
  }
  facts_.emplace_back(known);
}

TILEWRIGHT_INLINE void analyzer::assume(const ir::expr& condition) {
  if (condition->op == ir::op::logical_and) {
    assume(condition->args[0]);
    assume(condition->args[1]);
    return;
  }
  if (ir::is_int(condition)) return;
  solver s(*this);
  if (const form f = s.inequality(condition); f.valid) return add_fact(f);
  if (condition->op == ir::op::eq && is_index(condition->args[0].type())) {
    const form least = s.inequality(s.keep(ir::ge(condition->args[0], condition->args[1])));
    const form most = s.inequality(s.keep(ir::le(condition->args[0], condition->args[1])));
    if (least.valid && most.valid) {
      add_fact(least);
      return add_fact(most);
    }
  }
  truths_.push_back(condition);
}

TILEWRIGHT_INLINE ir::expr analyzer::simplify(const ir::expr& e) const {
  return solver(*this).simplify(e);
}

TILEWRIGHT_INLINE bool analyzer::prove(const ir::expr& condition) const {
  return solver(*this).prove(condition);
}

TILEWRIGHT_INLINE bounds analyzer::const_bounds(const ir::expr& e) const {
  solver s(*this);
  if (!is_index(e.type()) || e->op == ir::op::var || e->op == ir::op::integer) return s.range(e);
  const form f = s.to_form(e);
  return s.exact(f, e.type()) ? s.range(f) : bounds_of(e.type());
}

TILEWRIGHT_INLINE bool analyzer::prove_equal(const ir::expr& a, const ir::expr& b) const {
  return a.same(b) || solver(*this).prove(ir::eq(a, b));
}

TILEWRIGHT_INLINE bool analyzer::prove_le(const ir::expr& a, const ir::expr& b) const {
  return a.same(b) || solver(*this).prove(ir::le(a, b));
}

TILEWRIGHT_INLINE bool analyzer::prove_lt(const ir::expr& a, const ir::expr& b) const {
  return solver(*this).prove(ir::lt(a, b));
}

TILEWRIGHT_INLINE ir::expr simplify(const ir::expr& e) {
  const analyzer nothing_known;
  return nothing_known.simplify(e);
}

}  // namespace tilewright::arith
