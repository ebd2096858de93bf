// Functions of floating elements beyond those of arithmetic.hpp, and the bits of integers.
#pragma once

#include <tilewright/expr/arithmetic.hpp>

namespace tilewright::dsl {

/// @name Exponentials and logarithms
/// @{
/// 2 to the power of a.
template <operand A>
constexpr auto exp2(const A& a) {
  return call_one("exp2", a);
}
/// exp(a) - 1, exact near 0.
template <operand A>
constexpr auto expm1(const A& a) {
  return call_one("expm1", a);
}
template <operand A>
constexpr auto log2(const A& a) {
  return call_one("log2", a);
}
template <operand A>
constexpr auto log10(const A& a) {
  return call_one("log10", a);
}
/// log(1 + a), exact near 0.
template <operand A>
constexpr auto log1p(const A& a) {
  return call_one("log1p", a);
}
template <operand A>
constexpr auto cbrt(const A& a) {
  return call_one("cbrt", a);
}
/// @}

/// @name Trigonometric functions, of angles in radians, and hyperbolic ones
/// @{
template <operand A>
constexpr auto sin(const A& a) {
  return call_one("sin", a);
}
template <operand A>
constexpr auto cos(const A& a) {
  return call_one("cos", a);
}
template <operand A>
constexpr auto tan(const A& a) {
  return call_one("tan", a);
}
template <operand A>
constexpr auto asin(const A& a) {
  return call_one("asin", a);
}
template <operand A>
constexpr auto acos(const A& a) {
  return call_one("acos", a);
}
template <operand A>
constexpr auto atan(const A& a) {
  return call_one("atan", a);
}
template <operand A>
constexpr auto sinh(const A& a) {
  return call_one("sinh", a);
}
template <operand A>
constexpr auto cosh(const A& a) {
  return call_one("cosh", a);
}
template <operand A>
constexpr auto asinh(const A& a) {
  return call_one("asinh", a);
}
template <operand A>
constexpr auto acosh(const A& a) {
  return call_one("acosh", a);
}
template <operand A>
constexpr auto atanh(const A& a) {
  return call_one("atanh", a);
}
/// @}

/// To the nearest integer that is no larger in magnitude.
template <operand A>
constexpr auto trunc(const A& a) {
  return call_one("trunc", a);
}

/// @cond
template <class A, class B>
constexpr auto call_two_floats(const char* name, const A& a, const B& b) {
  using T = meeting<A, B>;
  if constexpr (!is_float_element<T>) {
    TILEWRIGHT_MISTAKE(is_float_operand,
                       "tilewright: atan2, fmod, hypot and copysign need a floating element type; "
                       "write cast<float>(x)",
                       T);
  }
  return call_two<T>(name, a, b);
}
/// @endcond

/// @name Functions of two floating elements, one of them perhaps a literal
/// @{
/// The angle of the point (x, y), in [-pi, pi].
template <class A, class B>
requires operands<A, B>
constexpr auto atan2(const A& y, const B& x) { return call_two_floats("atan2", y, x); }
/// Remainder of the truncated quotient: it has the sign of a.
template <class A, class B>
requires operands<A, B>
constexpr auto fmod(const A& a, const B& b) { return call_two_floats("fmod", a, b); }
/// sqrt(a * a + b * b) without overflow on the way.
template <class A, class B>
requires operands<A, B>
constexpr auto hypot(const A& a, const B& b) { return call_two_floats("hypot", a, b); }
/// The magnitude of a with the sign of b.
template <class A, class B>
requires operands<A, B>
constexpr auto copysign(const A& a, const B& b) { return call_two_floats("copysign", a, b); }
/// @}

/// @cond
template <class A>
constexpr auto test_one(std::string_view function, const A& a) {
  auto out = call_one(function, a);
  expression<bool, decltype(out)::length> truth;
  for (int k = 0; k < out.length; ++k) truth.nodes[k] = out.nodes[k];
  truth.nodes[out.length - 1].type = dtype::boolean;
  return truth;
}
/// @endcond

/// @name Tests of floating elements
/// @{
template <operand A>
constexpr auto isnan(const A& a) {
  return test_one("isnan", a);
}
template <operand A>
constexpr auto isinf(const A& a) {
  return test_one("isinf", a);
}
template <operand A>
constexpr auto isfinite(const A& a) {
  return test_one("isfinite", a);
}
/// @}

/// @cond
template <class T>
constexpr void check_bits() {
  if constexpr (!is_integer_element<T>) {
    TILEWRIGHT_MISTAKE(is_integer_operand,
                       "tilewright: bits are those of integers; write cast<int>(x), and * and / by "
                       "powers of two for an index",
                       T);
  }
}
template <class A, class B>
constexpr auto on_bits(const char* name, const A& a, const B& b) {
  using T = meeting<A, B>;
  check_bits<T>();
  return call_two<T>(name, a, b);
}
template <class A>
constexpr auto on_bits(const char* name, const A& a) {
  using T = element_of<A>;
  check_bits<T>();
  node n;
  n.op = ir::op::call;
  n.name = name;
  return make_expression<T>(n, to_expression(a));
}
/// @endcond

/// @name Bits of integers
/// `&` and `|` are those of conditions.
/// @{
template <class A, class B>
requires operands<A, B>
constexpr auto bitwise_and(const A& a, const B& b) { return on_bits("bitwise_and", a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto bitwise_or(const A& a, const B& b) { return on_bits("bitwise_or", a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto bitwise_xor(const A& a, const B& b) { return on_bits("bitwise_xor", a, b); }
template <operand A>
constexpr auto bitwise_not(const A& a) {
  return on_bits("bitwise_not", a);
}
/// How many bits of a are 1, in a's type.
template <operand A>
constexpr auto popcount(const A& a) {
  return on_bits("popcount", a);
}
/// The amount counts modulo the number of bits of a.
template <class A, class B>
requires operands<A, B>
constexpr auto shift_left(const A& a, const B& b) { return on_bits("shift_left", a, b); }
/// Of a signed number the sign is shifted in. The amount counts modulo the number of bits of a.
template <class A, class B>
requires operands<A, B>
constexpr auto shift_right(const A& a, const B& b) { return on_bits("shift_right", a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator<<(const A& a, const B& b) { return shift_left(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator>>(const A& a, const B& b) { return shift_right(a, b); }
template <class A, class B>
requires operands<A, B>
constexpr auto operator^(const A& a, const B& b) { return bitwise_xor(a, b); }
template <operand A>
constexpr auto operator~(const A& a) {
  return bitwise_not(a);
}
/// @}

}  // namespace tilewright::dsl

namespace tilewright {

using dsl::acos, dsl::acosh, dsl::asin, dsl::asinh, dsl::atan, dsl::atan2, dsl::atanh,
    dsl::bitwise_and, dsl::bitwise_not, dsl::bitwise_or, dsl::bitwise_xor, dsl::cbrt, dsl::copysign,
    dsl::cos, dsl::cosh, dsl::exp2, dsl::expm1, dsl::fmod, dsl::hypot, dsl::isfinite, dsl::isinf,
    dsl::isnan, dsl::log10, dsl::log1p, dsl::log2, dsl::popcount, dsl::shift_left, dsl::shift_right,
    dsl::sin, dsl::sinh, dsl::tan, dsl::trunc;

}  // namespace tilewright
