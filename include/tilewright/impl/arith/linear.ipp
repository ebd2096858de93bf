#pragma once

#include <bit>

#include <tilewright/arith/form.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::arith {
namespace detail {

inline const ir::expr& without_widening(const ir::expr& e) {
  const bool widens =
      e->op == ir::op::cast && e.type() == dtype::i64 && e->args[0].type() == dtype::i32;
  return widens ? e->args[0] : e;
}

inline bool is_sum(const ir::expr& e) {
  return (e->op == ir::op::add || e->op == ir::op::sub) && is_index(e.type());
}

inline void collect_factors(const ir::expr& e, std::vector<ir::expr>& out) {
  if (e->op != ir::op::mul) return out.push_back(without_widening(e));
  collect_factors(e->args[0], out);
  collect_factors(e->args[1], out);
}

inline bool same_product(const ir::expr& a, const ir::expr& b) {
  std::vector<ir::expr> x, y;
  collect_factors(a, x);
  collect_factors(b, y);
  if (x.size() != y.size()) return false;
  for (const ir::expr& factor : x) {
    std::size_t i = 0;
    while (i < y.size() && !same_value(factor, y[i])) ++i;
    if (i == y.size()) return false;
    y.erase(y.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

inline bool same_sum(const ir::expr& a, const ir::expr& b) {
  form d = plain_form(a);
  add(d, plain_form(b), -1);
  return d.is_constant() && d.constant == 0;
}

inline bool same_args(const ir::expr& a, const ir::expr& b) {
  for (std::size_t i = 0; i < a->args.size(); ++i)
    if (!same_value(a->args[i], b->args[i])) return false;
  return true;
}

inline bool commutes(ir::op o) {
  using ir::op;
  return o == op::min || o == op::max || o == op::eq || o == op::ne || o == op::logical_and ||
         o == op::logical_or;
}

}  // namespace detail

TILEWRIGHT_INLINE bool same_value(const ir::expr& left, const ir::expr& right) {
  const ir::expr& a = detail::without_widening(left);
  const ir::expr& b = detail::without_widening(right);
  if (a.same(b)) return true;
  if (a->op != b->op) return detail::is_sum(a) && detail::is_sum(b) && detail::same_sum(a, b);
  if (a->args.size() != b->args.size()) return false;
  switch (a->op) {
    case ir::op::var: return false;
    case ir::op::integer: return a->integer == b->integer;
    case ir::op::real:  // by bits: 0.0 and -0.0 differ
      return a.type() == b.type() &&
             std::bit_cast<std::uint64_t>(a->real) == std::bit_cast<std::uint64_t>(b->real);
    case ir::op::cast: return a.type() == b.type() && same_value(a->args[0], b->args[0]);
    case ir::op::load: return a->buffer == b->buffer && detail::same_args(a, b);
    case ir::op::data: return a->buffer == b->buffer;
    case ir::op::text: return a->name == b->name;
    case ir::op::let: return false;
    case ir::op::call: return a.type() == b.type() && a->name == b->name && detail::same_args(a, b);
    default: break;
  }
  // of different width: alike only where nothing wraps
  if (a.type() != b.type() && may_wrap(a)) return false;
  if (detail::same_args(a, b)) return true;
  if (is_float(a.type()) || a->args.empty() || is_float(a->args[0].type())) return false;
  if (detail::is_sum(a)) return detail::same_sum(a, b);
  if (a->op == ir::op::mul) return detail::same_product(a, b);
  return detail::commutes(a->op) && same_value(a->args[0], b->args[1]) &&
         same_value(a->args[1], b->args[0]);
}

TILEWRIGHT_INLINE std::int64_t linear::coefficient(const ir::expr& term) const {
  for (const auto& [each, coefficient] : terms)
    if (same_value(each, term)) return coefficient;
  return 0;
}

TILEWRIGHT_INLINE linear to_linear(const ir::expr& e) {
  linear out;
  out.type = e.type();
  if (ir::is_var(e)) {
    out.terms.emplace_back(e, 1);
    return out;
  }
  form f = plain_form(e);
  if (!f.valid) {
    f = {};
    add_term(f, e, 1);
  }
  out.constant = f.constant;
  out.terms.reserve(f.terms.size());
  for (const summand& s : f.terms) out.terms.emplace_back(s.term(), s.coefficient);
  return out;
}

TILEWRIGHT_INLINE ir::expr from_linear(const linear& sum) {
  form f;
  for (const auto& [term, coefficient] : sum.terms) add_term(f, term, coefficient);
  f.constant = sum.constant;
  return expression(f, sum.type);
}

}  // namespace tilewright::arith
