// Operators and functions on expressions.
//
// `/` and `%` of indices and integers round towards minus infinity, as in the IR. There are no &&
// and
// || (an overload would lose their order of evaluation): write & and |, or logical_and and
// logical_or.
#pragma once

#include <tilewright/expr/access.hpp>

namespace tilewright::dsl {

template <class... T>
inline constexpr bool is_float_operand = false;
template <class... T>
inline constexpr bool is_bool_operand = false;
template <class... T>
inline constexpr bool is_integer_operand = false;

/// @cond
template <class T>
inline constexpr bool is_integral_value = std::is_same_v<T, index> || is_integer_element<T>;

template <class R, ir::op Op, class A, class B>
constexpr auto binary(const A& a, const B& b) {
  using T = meeting<A, B>;
  using result = std::conditional_t<std::is_void_v<R>, T, R>;
  return make_operation<result>(Op, as_expression<T>(a), as_expression<T>(b));
}

template <class A>
constexpr auto call_one(std::string_view function, const A& a) {
  using T = element_of<A>;
  if constexpr (!is_float_element<T>) {
    TILEWRIGHT_MISTAKE(is_float_operand,
                       "tilewright: exp, log, sqrt and their like need a floating element type; "
                       "write cast<float>(x)",
                       T);
  }
  node n;
  n.op = ir::op::call;
  n.name = function;
  return make_expression<T>(n, to_expression(a));
}

template <ir::op Op, class A, class B>
constexpr auto logic(const A& a, const B& b) {
  using T = meeting<A, B>;
  if constexpr (!std::is_same_v<T, bool>) {
    TILEWRIGHT_MISTAKE(is_bool_operand, "tilewright: logic needs bool operands; write x != 0", T);
  }
  return binary<bool, Op>(a, b);
}
/// @endcond

template <class A, class B>
requires operands<A, B>
constexpr auto operator+(const A& a, const B& b) { return binary<void, ir::op::add>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator-(const A& a, const B& b) { return binary<void, ir::op::sub>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator*(const A& a, const B& b) { return binary<void, ir::op::mul>(a, b); }
/// Floor division on indices and integers.
template <class A, class B>
requires operands<A, B>
constexpr auto operator/(const A& a, const B& b) {
  if constexpr (is_integral_value<meeting<A, B>>)
    return binary<void, ir::op::floordiv>(a, b);
  else
    return binary<void, ir::op::div>(a, b);
}
/// Remainder of the floor division: it has the sign of the divisor.
template <class A, class B>
requires operands<A, B>
constexpr auto operator%(const A& a, const B& b) {
  if constexpr (!is_integral_value<meeting<A, B>>) {
    TILEWRIGHT_MISTAKE(is_integer_operand, "tilewright: % needs indices or integers",
                       meeting<A, B>);
  }
  return binary<void, ir::op::floormod>(a, b);
}
template <operand A>
constexpr auto operator-(const A& a) {
  using T = element_of<A>;
  if constexpr (is_float_element<T>)
    return make_operation<T>(ir::op::mul, to_expression(a), literal_expression<T>(-1));
  else
    return make_operation<T>(ir::op::sub, literal_expression<T>(0), to_expression(a));
}
template <operand A>
constexpr auto operator+(const A& a) {
  return to_expression(a);
}

template <class A, class B>
requires operands<A, B>
constexpr auto operator==(const A& a, const B& b) { return binary<bool, ir::op::eq>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator!=(const A& a, const B& b) { return binary<bool, ir::op::ne>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator<(const A& a, const B& b) { return binary<bool, ir::op::lt>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator<=(const A& a, const B& b) { return binary<bool, ir::op::le>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator>(const A& a, const B& b) { return binary<bool, ir::op::gt>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator>=(const A& a, const B& b) { return binary<bool, ir::op::ge>(a, b); }

template <class A, class B>
requires operands<A, B>
constexpr auto operator&(const A& a, const B& b) { return logic<ir::op::logical_and>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator|(const A& a, const B& b) { return logic<ir::op::logical_or>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto logical_and(const A& a, const B& b) { return logic<ir::op::logical_and>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto logical_or(const A& a, const B& b) { return logic<ir::op::logical_or>(a, b); }
template <operand A>
constexpr auto operator!(const A& a) {
  if constexpr (!std::is_same_v<element_of<A>, bool>) {
    TILEWRIGHT_MISTAKE(is_bool_operand, "tilewright: logic needs bool operands; write x != 0",
                       element_of<A>);
  }
  return make_operation<bool>(ir::op::logical_not, to_expression(a));
}
template <operand A>
constexpr auto logical_not(const A& a) {
  return !a;
}

/// Elementwise; `max<j>(a)` is the reduction. max(a, b) is a where a > b, else b, and so b where
/// either is NaN: max(x, 0) of a NaN is 0. What propagates NaN is called maximum and minimum.
template <class A, class B>
requires operands<A, B>
constexpr auto max(const A& a, const B& b) { return binary<void, ir::op::max>(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto min(const A& a, const B& b) { return binary<void, ir::op::min>(a, b); }

/// @cond
template <class T, class A, class B>
constexpr auto call_two(const char* name, const A& a, const B& b) {
  node n;
  n.op = ir::op::call;
  n.name = name;
  return make_expression<T>(n, as_expression<T>(a), as_expression<T>(b));
}
/// @endcond

/// The larger one, or NaN where either is NaN, as numpy.maximum and torch.maximum; `maximum<j>(a)`
/// is the reduction.
template <class A, class B>
requires operands<A, B>
constexpr auto maximum(const A& a, const B& b) {
  if constexpr (is_float_element<meeting<A, B>>)
    return call_two<meeting<A, B>>("maximum", a, b);
  else
    return max(a, b);
}
template <class A, class B>
requires operands<A, B>
constexpr auto minimum(const A& a, const B& b) {
  if constexpr (is_float_element<meeting<A, B>>)
    return call_two<meeting<A, B>>("minimum", a, b);
  else
    return min(a, b);
}

/// `yes` where the condition holds, else `no`; both are evaluated, so both must be in bounds.
template <operand C, class A, class B>
requires operands<A, B>
constexpr auto select(const C& condition, const A& yes, const B& no) {
  if constexpr (!std::is_same_v<element_of<C>, bool>) {
    TILEWRIGHT_MISTAKE(is_bool_operand, "tilewright: the condition of select needs to be bool",
                       element_of<C>);
  }
  using T = meeting<A, B>;
  return make_operation<T>(ir::op::select, to_expression(condition), as_expression<T>(yes),
                           as_expression<T>(no));
}
/// select between two literals of one type.
template <operand C, literal A>
constexpr auto select(const C& condition, const A& yes, const A& no) {
  using T = canonical<A>;
  return make_operation<T>(ir::op::select, to_expression(condition), literal_expression<T>(yes),
                           literal_expression<T>(no));
}

/// Conversion to element type T; also the value of an index: cast<float>(i).
template <element T, operand A>
constexpr auto cast(const A& a) {
  using to = canonical<T>;
  if constexpr (std::is_same_v<element_of<A>, to>)
    return retype<to>(to_expression(a));
  else
    return make_operation<to>(ir::op::cast, to_expression(a));
}
template <element T, literal A>
constexpr auto cast(const A& a) {
  return literal_expression<canonical<T>>(a);
}

template <operand A>
constexpr auto exp(const A& a) {
  return call_one("exp", a);
}
template <operand A>
constexpr auto log(const A& a) {
  return call_one("log", a);
}
template <operand A>
constexpr auto sqrt(const A& a) {
  return call_one("sqrt", a);
}
/// 1 / sqrt(a).
template <operand A>
constexpr auto rsqrt(const A& a) {
  return call_one("rsqrt", a);
}
template <operand A>
constexpr auto tanh(const A& a) {
  return call_one("tanh", a);
}
template <operand A>
constexpr auto erf(const A& a) {
  return call_one("erf", a);
}
/// 1 / (1 + exp(-a)).
template <operand A>
constexpr auto sigmoid(const A& a) {
  return call_one("sigmoid", a);
}
template <operand A>
constexpr auto floor(const A& a) {
  return call_one("floor", a);
}
template <operand A>
constexpr auto ceil(const A& a) {
  return call_one("ceil", a);
}
/// To the nearest integer, halves to even.
template <operand A>
constexpr auto round(const A& a) {
  return call_one("round", a);
}
template <operand A>
constexpr auto abs(const A& a) {
  using T = element_of<A>;
  if constexpr (is_integer_element<T> && std::is_unsigned_v<T>)
    return to_expression(a);
  else if constexpr (is_integral_value<T>)
    return max(a, -a);
  else
    return call_one("abs", a);
}
template <class A, class B>
requires operands<A, B>
constexpr auto pow(const A& a, const B& b) {
  using T = meeting<A, B>;
  if constexpr (!is_float_element<T>) {
    TILEWRIGHT_MISTAKE(is_float_operand,
                       "tilewright: pow needs a floating element type; write cast<float>(x)", T);
  }
  return call_two<T>("pow", a, b);
}

/// Condition on extents that each call has to meet, listed in blocks(...):
/// `expects(extent<"P"> == (extent<"H"> - 1) / 2 + 1)`.
template <operand C>
constexpr auto expects(const C& condition) {
  if constexpr (!std::is_same_v<element_of<C>, bool>) {
    TILEWRIGHT_MISTAKE(is_bool_operand, "tilewright: expects(...) needs a condition",
                       element_of<C>);
  }
  node n;
  n.kind = node_kind::expect;
  const auto e = make_expression<bool>(n, to_expression(condition));
  definitions<e.length> out;
  for (int k = 0; k < e.length; ++k) out.nodes[k] = e.nodes[k];
  return out;
}

/// @cond
template <class Name>
constexpr expression<index, 1> make_extent() {
  expression<index, 1> out;
  node n = type_node<index>();
  n.kind = node_kind::extent;
  n.name = meta::text_of<Name>;
  out.nodes[0] = n;
  return out;
}
/// @endcond

}  // namespace tilewright::dsl

namespace tilewright {

using dsl::abs, dsl::cast, dsl::ceil, dsl::erf, dsl::exp, dsl::expects, dsl::floor, dsl::log,
    dsl::logical_and, dsl::logical_not, dsl::logical_or, dsl::max, dsl::maximum, dsl::min,
    dsl::minimum, dsl::pow, dsl::round, dsl::rsqrt, dsl::select, dsl::sigmoid, dsl::sqrt, dsl::tanh;

/// The extent of a named dimension as an index value: `Y(i, j + extent<"N">)`,
/// `cast<float>(extent<"N">)`.
template <fixed_string Name>
inline constexpr auto extent = dsl::make_extent<meta::to_name<Name>>();

}  // namespace tilewright
