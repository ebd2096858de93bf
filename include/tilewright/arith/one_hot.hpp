// Terms that are zero for all values of a variable but one.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/expr.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::arith {

/// A term that is `value` where a variable is `place`, and zero elsewhere.
struct one_hot {
  ir::expr place, value;
};

namespace detail {

/// The value of `v` with which an equation of integers holds; null where it is none of one `v`.
inline ir::expr solved_for(const ir::expr& equation, const ir::var& v) {
  if (equation->op != ir::op::eq || !is_index(equation->args[0].type())) return {};
  linear left = to_linear(equation->args[0]), right = to_linear(equation->args[1]);
  if (left.coefficient(v) == 0) std::swap(left, right);
  const std::int64_t factor = left.coefficient(v);
  if ((factor != 1 && factor != -1) || right.coefficient(v) != 0) return {};
  erase_if(left.terms, [&](const auto& t) { return t.first.same(v); });
  const ir::expr rest = from_linear(left), other = from_linear(right);
  if (ir::uses_var(rest, v) || ir::uses_var(other, v)) return {};
  if (left.is_constant() && left.constant == 0)
    return factor == 1 ? other : ir::integer(other.type(), 0) - other;
  return factor == 1 ? other - rest : rest - other;
}

}  // namespace detail

/// A choice between something and zero, or a truth value as a number, whose condition says of `v` that it is something that does not
/// change with it; nothing where the term is anything else.
inline std::optional<one_hot> as_one_hot(const ir::expr& term, const ir::var& v) {
  const bool chosen = (term->op == ir::op::select || term->op == ir::op::if_then_else) &&
                      (ir::is_int(term->args[2], 0) ||
                       (term->args[2]->op == ir::op::real && term->args[2]->real == 0));
  const bool counted = term->op == ir::op::cast && term->args[0].type() == dtype::boolean;
  if (!chosen && !counted) return std::nullopt;
  std::vector<ir::expr> rest = ir::conjuncts(term->args[0]);
  for (auto part = rest.begin(); part != rest.end(); ++part) {
    const ir::expr place = detail::solved_for(*part, v);
    if (!place) continue;
    rest.erase(part);
    if (rest.empty() && counted)
      return one_hot{
          place, is_float(term.type()) ? ir::real(term.type(), 1) : ir::integer(term.type(), 1)};
    if (rest.empty()) return one_hot{place, term->args[1]};
    std::vector<ir::expr> args = term->args;
    args[0] = ir::conjunction(rest);
    return one_hot{place, ir::with_args(term, std::move(args))};
  }
  return std::nullopt;
}

}  // namespace tilewright::arith
