// Expressions made at run time: the nodes that expression templates make, in a vector.
//
// Operators and functions have the names of those on expression templates and are found by the same
// lookup, so one template can serve both: a body written as `max(x, 0)` takes an
// `expression<float, 3>` and a `runtime_expression` alike. Element types are values here, so what
// the compiler refuses there is an argument_error here.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/expr/reduction.hpp>

namespace tilewright::dsl {

/// An expression of an element type that is known at run time. Any operand of the front end (an
/// axis, a read, an expression) converts to one, and so does a number, which takes the type of the
/// expression beside it.
class runtime_expression {
 public:
  template <operand X>
  runtime_expression(const X& x)  // NOLINT: operands mix with run-time expressions
      : runtime_expression(to_expression(x).nodes, expression_of<X>::length) {}
  template <literal L>
  runtime_expression(L number)  // NOLINT: numbers mix with run-time expressions
      : runtime_expression(std::is_floating_point_v<L>, std::is_same_v<L, bool>,
                           static_cast<double>(number), static_cast<std::int64_t>(number)) {}
  /// `root` over the given children, of the element type `root.type`.
  runtime_expression(node root, const std::vector<runtime_expression>& children);

  dtype type() const { return nodes_.back().type; }
  bool is_index() const { return nodes_.back().is_index; }
  /// A number that has not met an expression yet.
  bool is_literal() const { return is_literal_; }
  const std::vector<node>& nodes() const { return nodes_; }

  /// The expression as one of an element type; a literal takes it, an integer may become an index.
  /// @throws argument_error for another type
  runtime_expression as(dtype wanted, bool wanted_index) const;

 private:
  runtime_expression(const node* from, int count) : nodes_(from, from + count) {}
  runtime_expression(bool is_real, bool is_truth, double real, std::int64_t integer);

  std::vector<node> nodes_;  // postfix
  bool is_literal_ = false;
};

/// Indices in order; several of them stand for as many arguments where a tensor is read.
using index_list = std::vector<runtime_expression>;

/// A number as an expression of a type.
runtime_expression runtime_literal(dtype type, double number);

/// @name Arithmetic, comparisons and logic
/// @{
runtime_expression operator+(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator-(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator*(const runtime_expression& a, const runtime_expression& b);
/// Floor division on indices and integers.
runtime_expression operator/(const runtime_expression& a, const runtime_expression& b);
/// Remainder of the floor division.
runtime_expression operator%(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator-(const runtime_expression& a);
runtime_expression operator+(const runtime_expression& a);
runtime_expression operator==(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator!=(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator<(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator<=(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator>(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator>=(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator&(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator|(const runtime_expression& a, const runtime_expression& b);
runtime_expression operator!(const runtime_expression& a);
runtime_expression max(const runtime_expression& a, const runtime_expression& b);
runtime_expression min(const runtime_expression& a, const runtime_expression& b);
/// `yes` where the condition holds, else `no`; both are evaluated, so both must be in bounds.
runtime_expression select(const runtime_expression& condition, const runtime_expression& yes,
                          const runtime_expression& no);
/// @}

/// @name Conversions and functions
/// @{
runtime_expression cast(const runtime_expression& a, dtype to);
template <element T>
runtime_expression cast(const runtime_expression& a) {
  return cast(a, dtype_of<T>);
}
runtime_expression exp(const runtime_expression& a);
runtime_expression log(const runtime_expression& a);
runtime_expression sqrt(const runtime_expression& a);
runtime_expression rsqrt(const runtime_expression& a);
runtime_expression tanh(const runtime_expression& a);
runtime_expression erf(const runtime_expression& a);
runtime_expression sigmoid(const runtime_expression& a);
runtime_expression floor(const runtime_expression& a);
runtime_expression ceil(const runtime_expression& a);
runtime_expression round(const runtime_expression& a);
runtime_expression abs(const runtime_expression& a);
runtime_expression pow(const runtime_expression& a, const runtime_expression& b);
runtime_expression sin(const runtime_expression& a);
runtime_expression cos(const runtime_expression& a);
runtime_expression tan(const runtime_expression& a);
runtime_expression asin(const runtime_expression& a);
runtime_expression acos(const runtime_expression& a);
runtime_expression atan(const runtime_expression& a);
runtime_expression sinh(const runtime_expression& a);
runtime_expression cosh(const runtime_expression& a);
runtime_expression asinh(const runtime_expression& a);
runtime_expression acosh(const runtime_expression& a);
runtime_expression atanh(const runtime_expression& a);
/// @}

/// @name Bits of integers
/// @{
runtime_expression bitwise_and(const runtime_expression& a, const runtime_expression& b);
runtime_expression bitwise_or(const runtime_expression& a, const runtime_expression& b);
runtime_expression bitwise_xor(const runtime_expression& a, const runtime_expression& b);
runtime_expression bitwise_not(const runtime_expression& a);
/// How many bits of a are 1, in a's type.
runtime_expression popcount(const runtime_expression& a);
/// The amount counts modulo the number of bits of a.
runtime_expression shift_left(const runtime_expression& a, const runtime_expression& b);
runtime_expression shift_right(const runtime_expression& a, const runtime_expression& b);
/// @}

/// @name Reductions over axes, which are listed, or named as template arguments
/// @{
runtime_expression reduce(reduction kind, const index_list& axes, const runtime_expression& x);
template <auto... Axis>
requires all_axes<Axis...> runtime_expression sum(const runtime_expression& x) {
  return reduce(reduction::sum, {Axis...}, x);
}
template <auto... Axis>
requires all_axes<Axis...> runtime_expression max(const runtime_expression& x) {
  return reduce(reduction::max, {Axis...}, x);
}
template <auto... Axis>
requires all_axes<Axis...> runtime_expression min(const runtime_expression& x) {
  return reduce(reduction::min, {Axis...}, x);
}
/// @}

}  // namespace tilewright::dsl
