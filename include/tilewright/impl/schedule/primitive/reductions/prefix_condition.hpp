// Conditions under which a reduction has a term, such as j <= i.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/expr.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::primitive::detail::scanning {

/// An element of a reduction that is the identity unless all conditions hold.
struct conditional_term {
  std::vector<ir::expr> conditions;
  ir::expr core;

  /// The element under the conditions that are left.
  ir::expr value(const ir::expr& identity) const {
    ir::expr all;
    for (const ir::expr& c : conditions) all = all ? ir::logical_and(all, c) : c;
    return all ? ir::select(all, core, identity) : core;
  }
};

/// !e, where e is a comparison of indices.
inline std::optional<ir::expr> opposite(const ir::expr& e) {
  switch (e->op) {
    case ir::op::lt: return ir::ge(e->args[0], e->args[1]);
    case ir::op::le: return ir::gt(e->args[0], e->args[1]);
    case ir::op::gt: return ir::le(e->args[0], e->args[1]);
    case ir::op::ge: return ir::lt(e->args[0], e->args[1]);
    default: return std::nullopt;
  }
}

inline bool compares_indices(const ir::expr& e) {
  const bool compares =
      e->op == ir::op::lt || e->op == ir::op::le || e->op == ir::op::gt || e->op == ir::op::ge;
  return compares && is_index(e->args[0].type()) && is_index(e->args[1].type());
}

/// Takes an element apart: a choice of a value and the identity, a condition that is cast to a number, where 0 is the
/// identity, or a conjunction, where it is false.
inline conditional_term conditional_term_of(const ir::expr& element, const ir::expr& identity) {
  conditional_term out{{}, element};
  for (;;) {
    const ir::expr e = out.core;
    const bool chooses = e->op == ir::op::select || e->op == ir::op::if_then_else;
    const auto add = [&](const ir::expr& condition) {
      for (const ir::expr& c : ir::conjuncts(condition)) out.conditions.push_back(c);
    };
    const auto is_zero = [](const ir::expr& x) {
      return (x->op == ir::op::integer && x->integer == 0) ||
             (x->op == ir::op::real && x->real == 0);
    };
    if (chooses && ir::equal(e->args[2], identity)) {
      add(e->args[0]);
      out.core = e->args[1];
    } else if (chooses && ir::equal(e->args[1], identity) && compares_indices(e->args[0])) {
      out.conditions.push_back(*opposite(e->args[0]));
      out.core = e->args[2];
    } else if (e->op == ir::op::cast && e->args[0].type() == dtype::boolean && is_zero(identity) &&
               (e->args[0]->op == ir::op::logical_and || compares_indices(e->args[0]))) {
      add(e->args[0]);
      out.core = ir::literal(e.type(), 1);
    } else if (e->op == ir::op::logical_and && ir::is_int(identity, 0)) {
      add(e);
      out.core = ir::boolean(true);
    } else {
      return out;
    }
  }
}

/// term <= result + offset, or term >= result + offset.
struct bounded_term {
  ir::expr term, result;  // variables
  std::int64_t offset = 0;
  bool is_upper = true;

  /// The same with the other variable as the term.
  bounded_term turned() const { return {result, term, -offset, !is_upper}; }
};

/// The condition as a bound of one variable by another one; which of both is the term is left to the caller, who may
/// turn it.
inline std::optional<bounded_term> bound_between(const ir::expr& condition) {
  if (!compares_indices(condition)) return std::nullopt;
  const bool rises = condition->op == ir::op::lt || condition->op == ir::op::le;
  const bool strict = condition->op == ir::op::lt || condition->op == ir::op::gt;
  const ir::expr &less = condition->args[rises ? 0 : 1], &more = condition->args[rises ? 1 : 0];
  const arith::linear sum = arith::to_linear(less - more);
  if (sum.terms.size() != 2) return std::nullopt;
  const auto& [a, by_a] = sum.terms[0];
  const auto& [b, by_b] = sum.terms[1];
  if (!ir::is_var(a) || !ir::is_var(b) || by_a + by_b != 0 || (by_a != 1 && by_a != -1))
    return std::nullopt;
  // less - more + constant <= 0
  const std::int64_t constant = sum.constant + (strict ? 1 : 0);
  return by_a == 1 ? bounded_term{a, b, -constant, true} : bounded_term{b, a, -constant, true};
}

}  // namespace tilewright::primitive::detail::scanning
