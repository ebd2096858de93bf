#pragma once

#include <string>
#include <utility>

#include <tilewright/expr/runtime_expression.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::dsl {
namespace detail {

inline std::string element_name(const runtime_expression& e) {
  return e.is_index() ? std::string("index") : std::string(name(e.type()));
}

inline bool is_integral(const runtime_expression& e) {
  return e.is_index() || is_integer(e.type());
}

/// A node of the element type of `like`.
inline node typed_like(const runtime_expression& like) {
  node n;
  n.type = like.type();
  n.is_index = like.is_index();
  return n;
}

/// The type in which two sides meet, and both sides in it.
inline std::pair<runtime_expression, runtime_expression> meet(const runtime_expression& a,
                                                              const runtime_expression& b) {
  if (a.is_literal() && b.is_literal())
    throw argument_error("two numbers are no expression; compute them before");
  const bool index = (a.is_index() && is_integral(b)) || (b.is_index() && is_integral(a));
  const runtime_expression& like = a.is_literal() ? b : a;
  const dtype type = index ? dtype::i64 : like.type();
  return {a.as(type, index || like.is_index()), b.as(type, index || like.is_index())};
}

inline runtime_expression binary(ir::op op, const runtime_expression& a,
                                 const runtime_expression& b) {
  auto [x, y] = meet(a, b);
  node n = typed_like(x);
  n.op = op;
  return {n, {x, y}};
}

inline node truth_node(ir::op op) {
  node n;
  n.type = dtype::boolean;
  n.op = op;
  return n;
}

inline runtime_expression compare(ir::op op, const runtime_expression& a,
                                  const runtime_expression& b) {
  auto [x, y] = meet(a, b);
  return {truth_node(op), {x, y}};
}

inline void need_bool(const runtime_expression& e) {
  if (e.type() != dtype::boolean)
    throw argument_error("logic needs bool operands, and one is " + element_name(e) +
                         "; write x != 0");
}

inline runtime_expression logic(ir::op op, const runtime_expression& a,
                                const runtime_expression& b) {
  auto [x, y] = meet(a, b);
  need_bool(x);
  return {truth_node(op), {x, y}};
}

inline runtime_expression call(std::string_view function, const runtime_expression& a) {
  if (!is_float(a.type()) || a.is_literal())
    throw argument_error(std::string(function) + " needs a floating element type, and not " +
                         element_name(a) + "; write cast(x, dtype::f32)");
  node n = typed_like(a);
  n.op = ir::op::call;
  n.name = function;
  return {n, {a}};
}

inline node bits_node(std::string_view function, const runtime_expression& a) {
  if (!is_integer(a.type()))
    throw argument_error(std::string(function) + " needs an integer element type, and not " +
                         element_name(a));
  node n = typed_like(a);
  n.op = ir::op::call;
  n.name = function;
  return n;
}

inline runtime_expression call_on_bits(std::string_view function, const runtime_expression& a,
                                       const runtime_expression& b) {
  auto [x, y] = meet(a, b);
  return {bits_node(function, x), {x, y}};
}

}  // namespace detail

TILEWRIGHT_INLINE runtime_expression::runtime_expression(
    node root, const std::vector<runtime_expression>& children) {
  root.arity = static_cast<std::int32_t>(children.size());
  root.size = 1;
  for (const runtime_expression& c : children) {
    nodes_.insert(nodes_.end(), c.nodes_.begin(), c.nodes_.end());
    root.size += static_cast<std::int32_t>(c.nodes_.size());
  }
  nodes_.push_back(root);
}

TILEWRIGHT_INLINE runtime_expression::runtime_expression(bool is_real, bool is_truth, double real,
                                                         std::int64_t integer)
    : is_literal_(true) {
  node n;
  n.type = is_real ? dtype::f64 : is_truth ? dtype::boolean : dtype::i64;
  n.op = is_real ? ir::op::real : ir::op::integer;
  n.real = real;
  n.integer = integer;
  nodes_.push_back(n);
}

TILEWRIGHT_INLINE runtime_expression runtime_expression::as(dtype wanted, bool wanted_index) const {
  if (!is_literal_) {
    if (type() == wanted && is_index() == wanted_index) return *this;
    if (!wanted_index || !is_integer(type()))
      throw argument_error("both sides of an operation need one element type, and " +
                           detail::element_name(*this) + " meets " +
                           (wanted_index ? "an index" : std::string(name(wanted))) +
                           "; cast one of them");
    // as in the templates: the node keeps its own type, and reify casts it
    return *this;
  }
  const dtype own = type();
  const bool fits = own == dtype::boolean || wanted == dtype::boolean ? own == wanted
                    : own == dtype::f64                               ? is_float(wanted)
                                                                      : true;
  if (!fits)
    throw argument_error("a literal does not fit the element type " + std::string(name(wanted)) +
                         " beside it; write one of that type, or cast the expression");
  runtime_expression out = *this;
  out.is_literal_ = false;
  node& n = out.nodes_.back();
  const double real = n.real;
  const std::int64_t integer = n.integer;
  n = node{};
  n.type = wanted;
  n.is_index = wanted_index;
  if (is_float(wanted)) {
    n.op = ir::op::real;
    n.real = real;
  } else {
    n.op = ir::op::integer;
    n.integer = integer;
  }
  return out;
}

TILEWRIGHT_INLINE runtime_expression runtime_literal(dtype type, double number) {
  if (type == dtype::boolean) return runtime_expression(number != 0).as(type, false);
  if (is_float(type)) return runtime_expression(number).as(type, false);
  return runtime_expression(static_cast<std::int64_t>(number)).as(type, false);
}

TILEWRIGHT_INLINE runtime_expression operator+(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::binary(ir::op::add, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator-(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::binary(ir::op::sub, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator*(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::binary(ir::op::mul, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator/(const runtime_expression& a,
                                               const runtime_expression& b) {
  const bool integral = detail::is_integral(a.is_literal() ? b : a);
  return detail::binary(integral ? ir::op::floordiv : ir::op::div, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator%(const runtime_expression& a,
                                               const runtime_expression& b) {
  if (!detail::is_integral(a.is_literal() ? b : a))
    throw argument_error("% needs indices or integers, and not " +
                         detail::element_name(a.is_literal() ? b : a));
  return detail::binary(ir::op::floormod, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator-(const runtime_expression& a) {
  return is_float(a.type()) ? a * -1 : 0 - a;
}
TILEWRIGHT_INLINE runtime_expression operator+(const runtime_expression& a) { return a; }

TILEWRIGHT_INLINE runtime_expression operator==(const runtime_expression& a,
                                                const runtime_expression& b) {
  return detail::compare(ir::op::eq, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator!=(const runtime_expression& a,
                                                const runtime_expression& b) {
  return detail::compare(ir::op::ne, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator<(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::compare(ir::op::lt, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator<=(const runtime_expression& a,
                                                const runtime_expression& b) {
  return detail::compare(ir::op::le, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator>(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::compare(ir::op::gt, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator>=(const runtime_expression& a,
                                                const runtime_expression& b) {
  return detail::compare(ir::op::ge, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator&(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::logic(ir::op::logical_and, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator|(const runtime_expression& a,
                                               const runtime_expression& b) {
  return detail::logic(ir::op::logical_or, a, b);
}
TILEWRIGHT_INLINE runtime_expression operator!(const runtime_expression& a) {
  detail::need_bool(a);
  return {detail::truth_node(ir::op::logical_not), {a}};
}
TILEWRIGHT_INLINE runtime_expression max(const runtime_expression& a, const runtime_expression& b) {
  return detail::binary(ir::op::max, a, b);
}
TILEWRIGHT_INLINE runtime_expression min(const runtime_expression& a, const runtime_expression& b) {
  return detail::binary(ir::op::min, a, b);
}
TILEWRIGHT_INLINE runtime_expression select(const runtime_expression& condition,
                                            const runtime_expression& yes,
                                            const runtime_expression& no) {
  detail::need_bool(condition);
  auto [x, y] = detail::meet(yes, no);
  node n = detail::typed_like(x);
  n.op = ir::op::select;
  return {n, {condition, x, y}};
}

TILEWRIGHT_INLINE runtime_expression cast(const runtime_expression& a, dtype to) {
  if (a.is_literal()) return a.as(to, false);
  node n;
  n.type = to;
  n.op = ir::op::cast;
  if (a.type() == to && !a.is_index()) return a;
  return {n, {a}};
}

TILEWRIGHT_INLINE runtime_expression exp(const runtime_expression& a) {
  return detail::call("exp", a);
}
TILEWRIGHT_INLINE runtime_expression log(const runtime_expression& a) {
  return detail::call("log", a);
}
TILEWRIGHT_INLINE runtime_expression sqrt(const runtime_expression& a) {
  return detail::call("sqrt", a);
}
TILEWRIGHT_INLINE runtime_expression rsqrt(const runtime_expression& a) {
  return detail::call("rsqrt", a);
}
TILEWRIGHT_INLINE runtime_expression tanh(const runtime_expression& a) {
  return detail::call("tanh", a);
}
TILEWRIGHT_INLINE runtime_expression erf(const runtime_expression& a) {
  return detail::call("erf", a);
}
TILEWRIGHT_INLINE runtime_expression sigmoid(const runtime_expression& a) {
  return detail::call("sigmoid", a);
}
TILEWRIGHT_INLINE runtime_expression floor(const runtime_expression& a) {
  return detail::call("floor", a);
}
TILEWRIGHT_INLINE runtime_expression ceil(const runtime_expression& a) {
  return detail::call("ceil", a);
}
TILEWRIGHT_INLINE runtime_expression round(const runtime_expression& a) {
  return detail::call("round", a);
}
TILEWRIGHT_INLINE runtime_expression abs(const runtime_expression& a) {
  if (is_unsigned(a.type()) && !a.is_index()) return a;
  return detail::is_integral(a) ? max(a, -a) : detail::call("abs", a);
}
TILEWRIGHT_INLINE runtime_expression pow(const runtime_expression& a, const runtime_expression& b) {
  auto [x, y] = detail::meet(a, b);
  if (!is_float(x.type()))
    throw argument_error("pow needs a floating element type, and not " + detail::element_name(x) +
                         "; write cast(x, dtype::f32)");
  node n = detail::typed_like(x);
  n.op = ir::op::call;
  n.name = "pow";
  return {n, {x, y}};
}

TILEWRIGHT_INLINE runtime_expression sin(const runtime_expression& a) {
  return detail::call("sin", a);
}
TILEWRIGHT_INLINE runtime_expression cos(const runtime_expression& a) {
  return detail::call("cos", a);
}
TILEWRIGHT_INLINE runtime_expression tan(const runtime_expression& a) {
  return detail::call("tan", a);
}
TILEWRIGHT_INLINE runtime_expression asin(const runtime_expression& a) {
  return detail::call("asin", a);
}
TILEWRIGHT_INLINE runtime_expression acos(const runtime_expression& a) {
  return detail::call("acos", a);
}
TILEWRIGHT_INLINE runtime_expression atan(const runtime_expression& a) {
  return detail::call("atan", a);
}
TILEWRIGHT_INLINE runtime_expression sinh(const runtime_expression& a) {
  return detail::call("sinh", a);
}
TILEWRIGHT_INLINE runtime_expression cosh(const runtime_expression& a) {
  return detail::call("cosh", a);
}
TILEWRIGHT_INLINE runtime_expression asinh(const runtime_expression& a) {
  return detail::call("asinh", a);
}
TILEWRIGHT_INLINE runtime_expression acosh(const runtime_expression& a) {
  return detail::call("acosh", a);
}
TILEWRIGHT_INLINE runtime_expression atanh(const runtime_expression& a) {
  return detail::call("atanh", a);
}

TILEWRIGHT_INLINE runtime_expression bitwise_and(const runtime_expression& a,
                                                 const runtime_expression& b) {
  return detail::call_on_bits("bitwise_and", a, b);
}
TILEWRIGHT_INLINE runtime_expression bitwise_or(const runtime_expression& a,
                                                const runtime_expression& b) {
  return detail::call_on_bits("bitwise_or", a, b);
}
TILEWRIGHT_INLINE runtime_expression bitwise_xor(const runtime_expression& a,
                                                 const runtime_expression& b) {
  return detail::call_on_bits("bitwise_xor", a, b);
}
TILEWRIGHT_INLINE runtime_expression shift_left(const runtime_expression& a,
                                                const runtime_expression& b) {
  return detail::call_on_bits("shift_left", a, b);
}
TILEWRIGHT_INLINE runtime_expression shift_right(const runtime_expression& a,
                                                 const runtime_expression& b) {
  return detail::call_on_bits("shift_right", a, b);
}
TILEWRIGHT_INLINE runtime_expression bitwise_not(const runtime_expression& a) {
  return {detail::bits_node("bitwise_not", a), {a}};
}
TILEWRIGHT_INLINE runtime_expression popcount(const runtime_expression& a) {
  return {detail::bits_node("popcount", a), {a}};
}

TILEWRIGHT_INLINE runtime_expression reduce(reduction kind, const index_list& axes,
                                            const runtime_expression& x) {
  if (axes.empty() || axes.size() > 16)
    throw argument_error("a reduction has 1 to 16 axes, and this one " +
                         std::to_string(axes.size()));
  for (const runtime_expression& a : axes)
    if (a.nodes().back().kind != node_kind::axis)
      throw argument_error("a reduction runs over axes, and not over other expressions");
  const bool logical = kind == reduction::any || kind == reduction::all;
  if (logical != (x.type() == dtype::boolean))
    throw argument_error(logical ? "any and all reduce bool; write x != 0"
                                 : "bool is reduced by any and all");
  const bool position = kind == reduction::argmax || kind == reduction::argmin;
  node n = detail::typed_like(x);
  if (position) {
    n.type = dtype::i64;
    n.is_index = true;
  }
  n.kind = node_kind::reduce;
  n.reduction = kind;
  n.axes = static_cast<std::int16_t>(axes.size());
  n.width = position ? 2 : 1;
  n.item = position ? 1 : 0;
  index_list parts = axes;
  parts.push_back(x);
  return {n, parts};
}

}  // namespace tilewright::dsl
