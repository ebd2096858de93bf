// Numbers of the point evaluator: a value in double, and how far the rounding that the program
// itself does may lead away from it.
//
// The bound is what tells a result that is wrong from one that a comparison within the rounding
// decided: the largest of two equal sums, a quotient rounded to an integer.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <tilewright/impl/ir/interpret/interpret_call.hpp>
#include <tilewright/impl/ir/interpret/interpret_convert.hpp>

namespace tilewright::ir::detail::point {

using interp::of_double;
using interp::of_int;
using interp::value;

struct number {
  value v{};          // `i` of integers and booleans, `d` of floats
  double error = 0;   // of floats: largest distance from what the program computes
  bool open = false;  // a decision on the way goes either way within the errors
};

/// An element has no value within the budget and the bounds.
struct no_value {};

inline constexpr double unbounded = std::numeric_limits<double>::infinity();
/// Rounding in another order than the evaluator's stays within so many of its bounds.
inline constexpr double reordering = 4;

inline number exact_integer(std::int64_t i, bool open = false) { return {of_int(i), 0, open}; }
inline number exact_float(double d) { return {of_double(d), 0, false}; }
inline number unknown_float(double d) { return {of_double(d), unbounded, true}; }

/// Half the distance from 1 to the next value, the largest value, and the smallest one.
struct float_limits {
  double unit, largest, smallest;
};

inline float_limits limits_of(dtype t) {
  switch (t) {
    case dtype::f16: return {0x1p-11, 65504, 0x1p-24};
    case dtype::bf16: return {0x1p-8, 0x1.fep127, 0x1p-133};
    case dtype::f32: return {0x1p-24, 0x1.fffffep127, 0x1p-149};
    default: return {0x1p-53, 0x1.fffffffffffffp1023, 0x1p-1074};
  }
}

/// A float of the program that is `ulps` roundings away from d.
inline number rounded(dtype t, double d, double error, bool open, double ulps = 1) {
  if (!std::isfinite(d)) return {of_double(d), error, open};
  const float_limits l = limits_of(t);
  if (std::abs(d) > l.largest) return unknown_float(d);
  return {of_double(d), error + ulps * (l.unit * std::abs(d) + l.smallest), open};
}

/// a * b where 0 times anything is 0.
inline double scaled(double a, double b) { return a == 0 || b == 0 ? 0 : std::abs(a) * b; }

inline bool separate(const number& a, const number& b) {
  const double errors = a.error + b.error;
  return errors == 0 || std::abs(a.v.d - b.v.d) > reordering * errors;
}

template <class T>
bool compare(op o, T a, T b) {
  switch (o) {
    case op::eq: return a == b;
    case op::ne: return a != b;
    case op::lt: return a < b;
    case op::le: return a <= b;
    case op::gt: return a > b;
    default: return a >= b;
  }
}

inline bool is_comparison(op o) { return o >= op::eq && o <= op::ge; }

inline number sum_of(dtype t, const number& a, const number& b, double value) {
  return rounded(t, value, a.error + b.error, a.open || b.open);
}

inline number product_of(dtype t, const number& a, const number& b) {
  return rounded(t, a.v.d * b.v.d,
                 scaled(a.v.d, b.error) + scaled(b.v.d, a.error) + scaled(a.error, b.error),
                 a.open || b.open);
}

inline number quotient_of(dtype t, const number& a, const number& b) {
  const double q = a.v.d / b.v.d, margin = std::abs(b.v.d) - b.error;
  if (b.error == 0) return rounded(t, q, a.error == 0 ? 0 : a.error / margin, a.open);
  if (!(margin > 0)) return unknown_float(q);
  return rounded(t, q, (a.error + scaled(q, b.error)) / margin, a.open || b.open);
}

/// A step function of x: the same on both sides of its error, or open.
template <class F>
number step_of(F f, const number& x) {
  const double y = f(x.v.d), reach = reordering * x.error;
  if (reach == 0) return {of_double(y), 0, x.open};
  const double jump = std::abs(f(x.v.d + reach) - f(x.v.d - reach));
  if (jump == 0) return exact_float(y);
  return jump < unbounded ? number{of_double(y), jump, true} : unknown_float(y);
}

inline number smaller_or_larger(op o, const number& a, const number& b) {
  const bool first = o == op::min ? a.v.d < b.v.d : a.v.d > b.v.d;
  const number& pick = first ? a : b;
  if (separate(a, b)) return pick;
  return {pick.v, std::max(a.error, b.error), a.open || b.open};
}

inline number float_operator(op o, dtype t, const number& a, const number& b) {
  const auto floored = [](double q) { return std::floor(q); };
  switch (o) {
    case op::add: return sum_of(t, a, b, a.v.d + b.v.d);
    case op::sub: return sum_of(t, a, b, a.v.d - b.v.d);
    case op::mul: return product_of(t, a, b);
    case op::div: return quotient_of(t, a, b);
    case op::min:
    case op::max: return smaller_or_larger(o, a, b);
    case op::floordiv: return step_of(floored, quotient_of(t, a, b));
    case op::floormod: {
      const number turns = step_of(floored, quotient_of(t, a, b)), back = product_of(t, turns, b);
      return sum_of(t, a, back, a.v.d - back.v.d);
    }
    case op::mod: {
      const double rest = std::fmod(a.v.d, b.v.d);
      return a.error == 0 && b.error == 0 ? number{of_double(rest), 0, a.open || b.open}
                                          : unknown_float(rest);
    }
    default: return exact_integer(compare(o, a.v.d, b.v.d), !separate(a, b));
  }
}

inline number integer_operator(op o, dtype result, dtype operand, const number& a,
                               const number& b) {
  const std::int64_t x = a.v.i, y = b.v.i;
  const bool open = a.open || b.open;
  if (is_comparison(o))
    return exact_integer(operand == dtype::u64 ? compare(o, static_cast<std::uint64_t>(x),
                                                         static_cast<std::uint64_t>(y))
                                               : compare(o, x, y),
                         open);
  const bool divides = o == op::div || o == op::mod || o == op::floordiv || o == op::floormod;
  if (divides && y == 0) {
    if (!b.open) throw no_value{};
    return exact_integer(0, true);
  }
  return exact_integer(fold_integer(o, result, x, y), open);
}

/// Either of two values that an open condition leaves.
inline number either(dtype t, const number& chosen, const number& other) {
  if (!is_float(t))
    return exact_integer(chosen.v.i, chosen.open || other.open || chosen.v.i != other.v.i);
  const double jump = std::abs(chosen.v.d - other.v.d);
  if (!(jump < unbounded)) return chosen.v.d == other.v.d ? chosen : unknown_float(chosen.v.d);
  return {chosen.v, jump + std::max(chosen.error, other.error),
          jump > 0 || chosen.open || other.open};
}

inline number to_float(dtype to, dtype from, const number& x) {
  if (is_float(from)) {
    if (limits_of(to).unit <= limits_of(from).unit) return x;
    return rounded(to, x.v.d, x.error, x.open);
  }
  const double d = from == dtype::u64 ? static_cast<double>(static_cast<std::uint64_t>(x.v.i))
                                      : static_cast<double>(x.v.i);
  if (x.open) return unknown_float(d);
  return std::abs(d) * limits_of(to).unit <= 1 ? exact_float(d) : rounded(to, d, 0, false);
}

inline number to_integer(dtype to, const number& x) {
  return interp::with_type(to, [&](auto d) -> number {
    constexpr dtype D = decltype(d)::value;
    if constexpr (is_float(D)) {
      return x;
    } else {
      const double reach = reordering * x.error;
      const std::int64_t low = interp::to_integer<D>(x.v.d - reach),
                         high = interp::to_integer<D>(x.v.d + reach),
                         i = interp::to_integer<D>(x.v.d);
      const bool crosses =
          D == dtype::boolean ? reach > 0 && std::abs(x.v.d) <= reach : low != i || high != i;
      return exact_integer(i, crosses || (x.open && x.error == 0));
    }
  });
}

inline number cast_of(dtype to, dtype from, const number& x) {
  if (is_float(to)) return to_float(to, from, x);
  return is_float(from) ? to_integer(to, x) : exact_integer(wrap_to(to, x.v.i), x.open);
}

inline bool is_step(std::string_view name) {
  return name == "floor" || name == "ceil" || name == "round" || name == "nearbyint" ||
         name == "trunc";
}

/// Units in the last place that functions of the program may be off.
inline constexpr double function_error = 8;

/// A smooth function: its error is what the argument's error does to it.
inline number function_of(dtype t, double (*f)(double), const number& x) {
  const double y = f(x.v.d);
  double error = 0;
  if (x.error > 0)
    error = std::max(std::abs(f(x.v.d + x.error) - y), std::abs(f(x.v.d - x.error) - y));
  if (std::isnan(error)) error = unbounded;
  return rounded(t, y, error, x.open || error == unbounded, function_error);
}

/// `jumps`: the function is not continuous, so that an error of an argument may decide.
inline number function_of(dtype t, double (*f)(double, double), bool jumps, const number& a,
                          const number& b) {
  const double y = f(a.v.d, b.v.d);
  double error = 0;
  for (const double da : {-a.error, a.error})
    for (const double db : {-b.error, b.error})
      if (const double e = std::abs(f(a.v.d + da, b.v.d + db) - y); !(e <= error)) error = e;
  if (std::isnan(error)) error = a.error == 0 && b.error == 0 ? 0 : unbounded;
  const bool inexact = a.error > 0 || b.error > 0;
  return rounded(t, y, error, a.open || b.open || error == unbounded || (jumps && inexact),
                 function_error);
}

inline number fused_of(dtype t, const number& a, const number& b, const number& c) {
  const number p = product_of(t, a, b);
  return sum_of(t, p, c, std::fma(a.v.d, b.v.d, c.v.d));
}

}  // namespace tilewright::ir::detail::point
