// Operators of the interpreter, one instance per type.
#pragma once

#include <cmath>
#include <type_traits>

#include <tilewright/impl/ir/interpret/interpret_machine.hpp>

namespace tilewright::ir::detail::interp {

template <dtype D>
std::int64_t wrap(std::uint64_t raw) {
  if constexpr (D == dtype::boolean)
    return raw != 0;
  else if constexpr (D == dtype::i8)
    return static_cast<std::int8_t>(raw);
  else if constexpr (D == dtype::i16)
    return static_cast<std::int16_t>(raw);
  else if constexpr (D == dtype::i32)
    return static_cast<std::int32_t>(raw);
  else if constexpr (D == dtype::u8)
    return static_cast<std::uint8_t>(raw);
  else if constexpr (D == dtype::u16)
    return static_cast<std::uint16_t>(raw);
  else if constexpr (D == dtype::u32)
    return static_cast<std::uint32_t>(raw);
  else
    return static_cast<std::int64_t>(raw);
}

[[noreturn]] inline void divide_by_zero(const machine& m) {
  throw error("integer division by zero in " + where(m));
}

template <op O, dtype D>
value binary_int(const expr_code& n, machine& m) {
  const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  constexpr bool wide = D == dtype::u64;
  if constexpr (O == op::add)
    return of_int(wrap<D>(ua + ub));
  else if constexpr (O == op::sub)
    return of_int(wrap<D>(ua - ub));
  else if constexpr (O == op::mul)
    return of_int(wrap<D>(ua * ub));
  else if constexpr (O == op::min)
    return of_int((wide ? ua < ub : a < b) ? a : b);
  else if constexpr (O == op::max)
    return of_int((wide ? ua < ub : a < b) ? b : a);
  else {
    if (b == 0) divide_by_zero(m);
    return of_int(fold_integer(O, D, a, b));
  }
}

template <op O, dtype D>
value binary_real(const expr_code& n, machine& m) {
  using T = held_t<D>;
  const T a = get<T>(eval(n.a, m)), b = get<T>(eval(n.b, m));
  if constexpr (O == op::add)
    return put<T>(a + b);
  else if constexpr (O == op::sub)
    return put<T>(a - b);
  else if constexpr (O == op::mul)
    return put<T>(a * b);
  else if constexpr (O == op::div)
    return put<T>(a / b);
  else if constexpr (O == op::mod)
    return put<T>(std::fmod(a, b));
  else if constexpr (O == op::floordiv)
    return put<T>(std::floor(a / b));
  else if constexpr (O == op::floormod)
    return put<T>(a - std::floor(a / b) * b);
  else if constexpr (O == op::min)
    return put<T>(a < b ? a : b);
  else
    return put<T>(a > b ? a : b);
}

template <op O, dtype D>
value comparison(const expr_code& n, machine& m) {
  using T = held_t<D>;
  const auto apply = [](auto a, auto b) {
    if constexpr (O == op::eq)
      return a == b;
    else if constexpr (O == op::ne)
      return a != b;
    else if constexpr (O == op::lt)
      return a < b;
    else if constexpr (O == op::le)
      return a <= b;
    else if constexpr (O == op::gt)
      return a > b;
    else
      return a >= b;
  };
  const T a = get<T>(eval(n.a, m)), b = get<T>(eval(n.b, m));
  if constexpr (D == dtype::u64)
    return of_int(apply(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return of_int(apply(a, b));
}

/// The type whose values the interpreter holds as it holds those of `t`: where a result needs no
/// wrapping or rounding, one instance does for all that are held alike.
constexpr dtype held_as(dtype t) {
  if (t == dtype::f64 || t == dtype::u64) return t;
  return is_float(t) ? dtype::f32 : dtype::i64;
}

template <op O, dtype D>
evaluator pick_typed() {
  if constexpr (O >= op::eq && O <= op::ge)
    return &comparison<O, held_as(D)>;
  else if constexpr (is_float(D))
    return &binary_real<O, held_as(D)>;
  else if constexpr (O == op::min || O == op::max)
    return &binary_int<O, held_as(D)>;
  else
    return &binary_int<O, D>;
}

/// Calls `f` with the type as a template argument.
template <class F>
auto with_type(dtype t, const F& f) {
  switch (t) {
    case dtype::boolean: return f(std::integral_constant<dtype, dtype::boolean>{});
    case dtype::i8: return f(std::integral_constant<dtype, dtype::i8>{});
    case dtype::i16: return f(std::integral_constant<dtype, dtype::i16>{});
    case dtype::i32: return f(std::integral_constant<dtype, dtype::i32>{});
    case dtype::i64: return f(std::integral_constant<dtype, dtype::i64>{});
    case dtype::u8: return f(std::integral_constant<dtype, dtype::u8>{});
    case dtype::u16: return f(std::integral_constant<dtype, dtype::u16>{});
    case dtype::u32: return f(std::integral_constant<dtype, dtype::u32>{});
    case dtype::u64: return f(std::integral_constant<dtype, dtype::u64>{});
    case dtype::f16: return f(std::integral_constant<dtype, dtype::f16>{});
    case dtype::bf16: return f(std::integral_constant<dtype, dtype::bf16>{});
    case dtype::f32: return f(std::integral_constant<dtype, dtype::f32>{});
    case dtype::f64: return f(std::integral_constant<dtype, dtype::f64>{});
    case dtype::handle: throw argument_error("pointers cannot be interpreted");
  }
  throw argument_error("values of type " + std::string(name(t)) + " cannot be computed here");
}

template <op O>
evaluator pick_operator(dtype t) {
  return with_type(t, [](auto d) { return pick_typed<O, decltype(d)::value>(); });
}

inline evaluator pick_binary(op o, dtype operands) {
  switch (o) {
    case op::add: return pick_operator<op::add>(operands);
    case op::sub: return pick_operator<op::sub>(operands);
    case op::mul: return pick_operator<op::mul>(operands);
    case op::div: return pick_operator<op::div>(operands);
    case op::mod: return pick_operator<op::mod>(operands);
    case op::floordiv: return pick_operator<op::floordiv>(operands);
    case op::floormod: return pick_operator<op::floormod>(operands);
    case op::min: return pick_operator<op::min>(operands);
    case op::max: return pick_operator<op::max>(operands);
    case op::eq: return pick_operator<op::eq>(operands);
    case op::ne: return pick_operator<op::ne>(operands);
    case op::lt: return pick_operator<op::lt>(operands);
    case op::le: return pick_operator<op::le>(operands);
    case op::gt: return pick_operator<op::gt>(operands);
    case op::ge: return pick_operator<op::ge>(operands);
    default: throw internal_error("interpret met an unknown operator");
  }
}

inline value run_constant(const expr_code& n, machine&) { return n.constant; }
inline value run_variable(const expr_code& n, machine& m) {
  return m.slots[static_cast<std::size_t>(n.slot)];
}
inline value run_choice(const expr_code& n, machine& m) {
  return eval_int(n.a, m) ? eval(n.b, m) : eval(n.c, m);
}
inline value run_select(const expr_code& n, machine& m) {
  const bool yes = eval_int(n.a, m) != 0;
  const value x = eval(n.b, m), y = eval(n.c, m);
  return yes ? x : y;
}
inline value run_and(const expr_code& n, machine& m) {
  const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
  return of_int(a && b);
}
inline value run_or(const expr_code& n, machine& m) {
  const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
  return of_int(a || b);
}
inline value run_not(const expr_code& n, machine& m) { return of_int(eval_int(n.a, m) == 0); }

/// Sum of coefficient * variable; wrapping once at the end equals wrapping after every operation.
template <dtype D>
value run_affine(const expr_code& n, machine& m) {
  auto sum = static_cast<std::uint64_t>(n.constant.i);
  for (const affine_term& t : n.terms) {
    const std::int64_t x =
        t.slot >= 0 ? m.slots[static_cast<std::size_t>(t.slot)].i : eval_int(t.code, m);
    sum += static_cast<std::uint64_t>(t.coefficient) * static_cast<std::uint64_t>(x);
  }
  return of_int(wrap<D>(sum));
}

}  // namespace tilewright::ir::detail::interp
