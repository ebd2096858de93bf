// Values of the front end: expressions, and what may stand where one is expected.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <tilewright/expr/element.hpp>
#include <tilewright/expr/node.hpp>
#include <tilewright/meta/axis.hpp>
#include <tilewright/meta/mistake.hpp>

namespace tilewright::dsl {

template <class... T>
inline constexpr bool decides_when_compiled = false;
template <class... T>
inline constexpr bool has_a_value_when_compiled = false;

/// Tells what asks for the value of an element, as std::exp(A(i)) does: it is not known yet.
template <class Offender>
constexpr double no_value() {
  TILEWRIGHT_MISTAKE(has_a_value_when_compiled,
                     "tilewright: an element has no value while its kernel is written; write "
                     "exp(x) and its like without std::, and cast<T>(x) for another type",
                     Offender);
  return 0;
}

/// Expression of element type T in N nodes, its root last.
template <class T, int N>
struct expression {
  using element = T;
  using tilewright_operand = void;
  static constexpr int length = N;
  node nodes[N]{};

  /// What `c ? a : b`, `c && d` and `if (c)` would need: the value of an element is not known yet.
  template <class B>
  requires std::is_same_v<B, bool>
  constexpr explicit operator B() const {
    TILEWRIGHT_MISTAKE(decides_when_compiled,
                       "tilewright: a condition on elements is no bool of C++; write "
                       "select(condition, yes, no), and & and | for && and ||",
                       T);
    return false;
  }
  constexpr operator double() const { return no_value<T>(); }  // NOLINT: implicit, for std::exp(x)
};

/// Appends nodes to an expression under construction.
struct node_writer {
  node* to;
  int used = 0;
  constexpr void put(const node* from, int count) {
    for (int k = 0; k < count; ++k) to[used++] = from[k];
  }
};

/// Axes, reads, expressions and rank-0 tensors; not literals.
template <class T>
concept operand = requires {
  typename std::remove_cvref_t<T>::tilewright_operand;
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// Numbers and truth values of C++ that may stand in an expression.
template <class T>
concept literal = std::is_arithmetic_v<std::remove_cvref_t<T>>;

/// What `a` and `b` in a binary operator may be: operands, one of them perhaps a literal.
template <class A, class B>
concept operands = (operand<A> && (operand<B> || literal<B>)) || (literal<A> && operand<B>);

template <class T>
constexpr node type_node() {
  node n;
  n.type = dtype_of<T>;
  n.is_index = std::is_same_v<T, index>;
  return n;
}

/// @name Operands to expressions
/// @{
template <class T, int N>
constexpr const expression<T, N>& to_expression(const expression<T, N>& e) {
  return e;
}
template <class Name, class... Dim>
constexpr expression<index, 1> to_expression(const axis_of<Name, Dim...>&) {
  expression<index, 1> out;
  node n = type_node<index>();
  n.kind = node_kind::axis;
  n.name = meta::text_of<Name>;
  if constexpr (sizeof...(Dim) == 1) n.dim = dim_info{Dim::text..., Dim::extent...};
  out.nodes[0] = n;
  return out;
}
template <class X>
requires requires(const X& x) { x.read(); }
constexpr auto to_expression(const X& x) { return x.read(); }
/// @}

template <operand X>
using expression_of =
    std::remove_cvref_t<decltype(to_expression(std::declval<const std::remove_cvref_t<X>&>()))>;
template <operand X>
using element_of = typename expression_of<X>::element;

template <class... T>
inline constexpr bool same_element_type = false;
template <class... T>
inline constexpr bool literal_fits = false;

/// A literal takes the type T of the expression beside it: integers fit everywhere but bool,
/// floating literals fit floating types, bool fits bool.
template <class T, class L>
inline constexpr bool takes_literal = std::is_same_v<L, bool>       ? std::is_same_v<T, bool>
                                      : std::is_same_v<T, index>    ? std::is_integral_v<L>
                                      : std::is_floating_point_v<L> ? is_float_element<T>
                                                                    : !std::is_same_v<T, bool>;

template <class T, literal L>
constexpr expression<T, 1> literal_expression(L value) {
  if constexpr (!takes_literal<T, L>)
    TILEWRIGHT_MISTAKE(
        literal_fits,
        "tilewright: a literal does not fit the element type beside it; write one of "
        "that type, or cast<T> the expression",
        T, L);
  expression<T, 1> out;
  node n = type_node<T>();
  if (is_float(n.type)) {
    n.op = ir::op::real;
    n.real = static_cast<double>(value);
  } else {
    n.op = ir::op::integer;
    n.integer = static_cast<std::int64_t>(value);
  }
  out.nodes[0] = n;
  return out;
}

/// Element type in which A and B meet: equal types, a literal follows the other side, and an index
/// takes part in integer arithmetic as an index.
template <class A, class B>
struct meeting_type;
template <operand A, literal B>
struct meeting_type<A, B> {
  using type = element_of<A>;
};
template <literal A, operand B>
struct meeting_type<A, B> {
  using type = element_of<B>;
};
template <operand A, operand B>
struct meeting_type<A, B> {
  using left = element_of<A>;
  using right = element_of<B>;
  static constexpr bool indices = (std::is_same_v<left, index> && is_integer_element<right>) ||
                                  (std::is_same_v<right, index> && is_integer_element<left>);
  using type = std::conditional_t<indices, index, left>;
};
template <class A, class B>
using meeting = typename meeting_type<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::type;

/// The same nodes under another element type (an integer used as an index).
template <class T, class U, int N>
constexpr expression<T, N> retype(const expression<U, N>& e) {
  expression<T, N> out;
  for (int k = 0; k < N; ++k) out.nodes[k] = e.nodes[k];
  return out;
}

/// `x` as an expression of type T, which is its own type, index for an integer, or a literal's new
/// one.
template <class T, class X>
constexpr auto as_expression(const X& x) {
  if constexpr (literal<X>) {
    return literal_expression<T>(x);
  } else {
    using from = element_of<X>;
    if constexpr (!std::is_same_v<from, T> &&
                  !(std::is_same_v<T, index> && is_integer_element<from>))
      TILEWRIGHT_MISTAKE(
          same_element_type,
          "tilewright: both sides of an operation need one element type; cast<T> one "
          "of them",
          T, from);
    return expression<T, expression_of<X>::length>{retype<T>(to_expression(x))};
  }
}

/// Root `n` over the given children.
template <class T, class... U, int... N>
constexpr expression<T, (1 + ... + N)> make_expression(node n, const expression<U, N>&... child) {
  constexpr int total = (1 + ... + N);
  expression<T, total> out;
  [[maybe_unused]] node_writer writer{out.nodes};
  (writer.put(child.nodes, N), ...);
  const node typed = type_node<T>();
  n.type = typed.type;
  n.is_index = typed.is_index;
  n.arity = sizeof...(N);
  n.size = total;
  out.nodes[total - 1] = n;
  return out;
}

template <class T, class... U, int... N>
constexpr auto make_operation(ir::op op, const expression<U, N>&... child) {
  node n;
  n.op = op;
  return make_expression<T>(n, child...);
}

}  // namespace tilewright::dsl
