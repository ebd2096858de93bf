// Intrinsic functions of the interpreter.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <tilewright/impl/ir/interpret/interpret_arith.hpp>
#include <tilewright/impl/ir/interpret/residue.hpp>

namespace tilewright::ir::detail::interp {

/// A function of one float argument in both widths; f16 and bf16 use the f32 one.
struct unary_function {
  std::string_view name;
  float (*of_float)(float);
  double (*of_double)(double);
};

template <class T>
T half_to_even(T x) {
  const T below = std::floor(x), rest = x - below;
  if (rest < T(0.5)) return std::copysign(below, x);
  if (rest > T(0.5)) return std::copysign(below + 1, x);
  return std::copysign(std::fmod(below, T(2)) == 0 ? below : below + 1, x);
}

#define TILEWRIGHT_UNARY(name, body)                                                     \
  unary_function {                                                                       \
    name, [](float x) -> float { return body; }, [](double x) -> double { return body; } \
  }

inline const unary_function* find_unary(std::string_view name) {
  static constexpr std::array table{
      TILEWRIGHT_UNARY("exp", std::exp(x)),
      TILEWRIGHT_UNARY("exp2", std::exp2(x)),
      unary_function{"exp10",
                     [](float x) -> float {
                       return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
                     },
                     [](double x) -> double { return std::pow(10.0, x); }},
      TILEWRIGHT_UNARY("expm1", std::expm1(x)),
      TILEWRIGHT_UNARY("log", std::log(x)),
      TILEWRIGHT_UNARY("log2", std::log2(x)),
      TILEWRIGHT_UNARY("log10", std::log10(x)),
      TILEWRIGHT_UNARY("log1p", std::log1p(x)),
      TILEWRIGHT_UNARY("sqrt", std::sqrt(x)),
      TILEWRIGHT_UNARY("rsqrt", 1 / std::sqrt(x)),
      TILEWRIGHT_UNARY("tanh", std::tanh(x)),
      TILEWRIGHT_UNARY("erf", std::erf(x)),
      TILEWRIGHT_UNARY("sigmoid", 1 / (1 + std::exp(-x))),
      TILEWRIGHT_UNARY("abs", std::abs(x)),
      TILEWRIGHT_UNARY("fabs", std::abs(x)),
      TILEWRIGHT_UNARY("floor", std::floor(x)),
      TILEWRIGHT_UNARY("ceil", std::ceil(x)),
      TILEWRIGHT_UNARY("round", half_to_even(x)),
      TILEWRIGHT_UNARY("nearbyint", half_to_even(x)),
      TILEWRIGHT_UNARY("trunc", std::trunc(x)),
      TILEWRIGHT_UNARY("sin", std::sin(x)),
      TILEWRIGHT_UNARY("cos", std::cos(x)),
      TILEWRIGHT_UNARY("tan", std::tan(x)),
      TILEWRIGHT_UNARY("asin", std::asin(x)),
      TILEWRIGHT_UNARY("acos", std::acos(x)),
      TILEWRIGHT_UNARY("atan", std::atan(x)),
      TILEWRIGHT_UNARY("sinh", std::sinh(x)),
      TILEWRIGHT_UNARY("cosh", std::cosh(x)),
      TILEWRIGHT_UNARY("asinh", std::asinh(x)),
      TILEWRIGHT_UNARY("acosh", std::acosh(x)),
      TILEWRIGHT_UNARY("atanh", std::atanh(x)),
      TILEWRIGHT_UNARY("cbrt", std::cbrt(x)),
  };
  for (const unary_function& f : table)
    if (f.name == name) return &f;
  return nullptr;
}
#undef TILEWRIGHT_UNARY

inline value run_unary_float(const expr_code& n, machine& m) {
  return of_float(n.float_function(eval(n.a, m).f));
}
inline value run_unary_double(const expr_code& n, machine& m) {
  return of_double(n.real_function(eval(n.a, m).d));
}

template <class T, class F>
evaluator binary_function(F) {
  return [](const expr_code& n, machine& m) -> value {
    const T a = get<T>(eval(n.a, m)), b = get<T>(eval(n.b, m));
    return put<T>(F{}(a, b));
  };
}

template <class T>
evaluator find_binary_float(std::string_view name) {
  if (name == "pow") return binary_function<T>([](T a, T b) { return std::pow(a, b); });
  if (name == "atan2") return binary_function<T>([](T a, T b) { return std::atan2(a, b); });
  if (name == "fmod") return binary_function<T>([](T a, T b) { return std::fmod(a, b); });
  if (name == "hypot") return binary_function<T>([](T a, T b) { return std::hypot(a, b); });
  if (name == "copysign") return binary_function<T>([](T a, T b) { return std::copysign(a, b); });
  if (name == "maximum")
    return binary_function<T>([](T a, T b) { return a > b || a != a ? a : b; });
  if (name == "minimum")
    return binary_function<T>([](T a, T b) { return a < b || a != a ? a : b; });
  if (name == "nextafter") return binary_function<T>([](T a, T b) { return std::nextafter(a, b); });
  return nullptr;
}

template <class T>
evaluator find_predicate(std::string_view name) {
  if (name == "isnan")
    return [](const expr_code& n, machine& m) { return of_int(std::isnan(get<T>(eval(n.a, m)))); };
  if (name == "isinf")
    return [](const expr_code& n, machine& m) { return of_int(std::isinf(get<T>(eval(n.a, m)))); };
  if (name == "isfinite")
    return
        [](const expr_code& n, machine& m) { return of_int(std::isfinite(get<T>(eval(n.a, m)))); };
  return nullptr;
}

template <class T>
value run_fma(const expr_code& n, machine& m) {
  const T a = get<T>(eval(n.a, m)), b = get<T>(eval(n.b, m)), c = get<T>(eval(n.c, m));
  return put<T>(std::fma(a, b, c));
}

template <dtype D>
std::int64_t integer_power(std::int64_t base, std::int64_t exponent) {
  std::uint64_t result = 1, factor = static_cast<std::uint64_t>(base);
  for (auto e = exponent < 0 ? 0 : static_cast<std::uint64_t>(exponent); e;
       e >>= 1, factor *= factor)
    if (e & 1) result *= factor;
  return wrap<D>(result);
}

inline std::int64_t count_bits(std::uint64_t x) {
  std::int64_t count = 0;
  for (; x; x &= x - 1) ++count;
  return count;
}

/// Shift amounts are taken modulo the width, so that no amount is undefined.
template <dtype D, class F>
evaluator binary_bits(F) {
  return [](const expr_code& n, machine& m) -> value {
    const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
    return of_int(wrap<D>(static_cast<std::uint64_t>(F{}(a, b))));
  };
}

/// Arithmetic of `modular` programs.
inline evaluator find_residue_function(std::string_view name) {
  using word = std::uint64_t;
  const auto made = [](auto f) -> evaluator {
    return binary_bits<dtype::u64>([](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(decltype(f){}(static_cast<word>(a), static_cast<word>(b)));
    });
  };
  if (name == "mod.sum") return made([](word a, word b) { return residue::sum(a, b); });
  if (name == "mod.difference")
    return made([](word a, word b) { return residue::difference(a, b); });
  if (name == "mod.product") return made([](word a, word b) { return residue::product(a, b); });
  if (name == "mod.quotient") return made([](word a, word b) { return residue::quotient(a, b); });
  if (name == "mod.min") return made([](word a, word b) { return residue::less(a, b) ? a : b; });
  if (name == "mod.max") return made([](word a, word b) { return residue::less(a, b) ? b : a; });
  if (name == "mod.less") return made([](word a, word b) -> word { return residue::less(a, b); });
  if (name == "mod.mixed") return made([](word a, word b) { return residue::mixed(a, b); });
  if (name == "mod.of_signed")
    return made([](word a, word) { return residue::of_signed(static_cast<std::int64_t>(a)); });
  return nullptr;
}

template <dtype D>
evaluator find_integer_function(std::string_view name) {
  constexpr std::int64_t last = bits(D) - 1;
  if (name == "abs")
    return [](const expr_code& n, machine& m) -> value {
      const std::int64_t a = eval_int(n.a, m);
      return of_int(is_unsigned(D) || a >= 0 ? a : wrap<D>(0 - static_cast<std::uint64_t>(a)));
    };
  if (name == "pow")
    return binary_bits<D>([](std::int64_t a, std::int64_t b) { return integer_power<D>(a, b); });
  if (name == "bitwise_and")
    return binary_bits<D>([](std::int64_t a, std::int64_t b) { return a & b; });
  if (name == "bitwise_or")
    return binary_bits<D>([](std::int64_t a, std::int64_t b) { return a | b; });
  if (name == "bitwise_xor")
    return binary_bits<D>([](std::int64_t a, std::int64_t b) { return a ^ b; });
  if (name == "shift_left")
    return binary_bits<D>([](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << (b & last));
    });
  if (name == "shift_right")
    return binary_bits<D>([](std::int64_t a, std::int64_t b) {
      return D == dtype::u64
                 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) >> (b & last))
                 : a >> (b & last);
    });
  if (name == "bitwise_not")
    return [](const expr_code& n, machine& m) {
      return of_int(wrap<D>(~static_cast<std::uint64_t>(eval_int(n.a, m))));
    };
  if (name == "popcount")
    return [](const expr_code& n, machine& m) -> value {
      constexpr std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits(D));
      return of_int(count_bits(static_cast<std::uint64_t>(eval_int(n.a, m)) & mask));
    };
  return nullptr;
}

/// c + a0 * b0 + ... + a3 * b3 of 8-bit integers, wrapping.
template <dtype D>
value run_dot4(const expr_code& n, machine& m) {
  auto sum = static_cast<std::uint64_t>(eval_int(n.indices[0], m));
  for (std::size_t k = 1; k <= 4; ++k)
    sum += static_cast<std::uint64_t>(eval_int(n.indices[k], m)) *
           static_cast<std::uint64_t>(eval_int(n.indices[k + 4], m));
  return of_int(wrap<D>(sum));
}

/// (c + a1 * b1) + a0 * b0 of bf16 numbers in f32; the products are exact.
inline value run_dot2(const expr_code& n, machine& m) {
  const auto at = [&](std::size_t i) { return eval(n.indices[i], m).f; };
  const float late = at(2) * at(4), early = at(1) * at(3);
  return of_float((at(0) + late) + early);
}

/// c + |a0 - b0| + ... + |a7 - b7| of bytes, wrapping.
inline value run_sad8(const expr_code& n, machine& m) {
  auto sum = static_cast<std::uint64_t>(eval_int(n.indices[0], m));
  for (std::size_t k = 1; k <= 8; ++k) {
    const std::int64_t a = eval_int(n.indices[k], m), b = eval_int(n.indices[k + 8], m);
    sum += static_cast<std::uint64_t>(a > b ? a - b : b - a);
  }
  return of_int(static_cast<std::int64_t>(sum));
}

/// The calls that stand for instructions on packed numbers; docs/intrinsics.md lists them.
inline evaluator pick_packed(const expr& e) {
  const auto all = [&](std::size_t first, std::size_t count, auto fits) {
    if (e->args.size() != count) return false;
    for (std::size_t i = first; i < count; ++i)
      if (!fits(e->args[i].type())) return false;
    return e->args[0].type() == e.type();
  };
  if (e->name == "dot4" && all(1, 9, [](dtype t) { return t == dtype::i8 || t == dtype::u8; })) {
    if (e.type() == dtype::i32) return &run_dot4<dtype::i32>;
    if (e.type() == dtype::u32) return &run_dot4<dtype::u32>;
  }
  if (e->name == "dot2" && e.type() == dtype::f32 &&
      all(1, 5, [](dtype t) { return t == dtype::bf16; }))
    return &run_dot2;
  if (e->name == "sad8" && e.type() == dtype::i64 &&
      all(1, 17, [](dtype t) { return t == dtype::u8; }))
    return &run_sad8;
  throw argument_error("\"" + e->name +
                       "\" takes a sum and what is added: i32 or u32 and 8 integers of 8 bits for "
                       "dot4, f32 and 4 bf16 numbers for dot2, i64 and 16 bytes for sad8");
}

/// Fills in the evaluation of intrinsic `name` on operands of type `operand`; false when it is
/// unknown.
inline bool pick_call(expr_code& code, std::string_view name, dtype operand, std::size_t arity) {
  if (name == "likely" && arity == 1) {
    code.run = [](const expr_code& n, machine& m) { return eval(n.a, m); };
    return true;
  }
  if (operand == dtype::u64 && arity == 2 && residue::is_call(name)) {
    code.run = find_residue_function(name);
    return code.run != nullptr;
  }
  if (!is_float(operand)) {
    code.run =
        with_type(operand, [&](auto d) { return find_integer_function<decltype(d)::value>(name); });
    const bool binary = name == "pow" || name.substr(0, 6) == "shift_" ||
                        (name.substr(0, 8) == "bitwise_" && name != "bitwise_not");
    return code.run && arity == (binary ? 2u : 1u);
  }
  const bool wide = operand == dtype::f64;
  if (arity == 1) {
    if (const unary_function* f = find_unary(name)) {
      code.float_function = f->of_float;
      code.real_function = f->of_double;
      code.run = wide ? &run_unary_double : &run_unary_float;
    } else {
      code.run = wide ? find_predicate<double>(name) : find_predicate<float>(name);
    }
  } else if (arity == 2) {
    code.run = wide ? find_binary_float<double>(name) : find_binary_float<float>(name);
  } else if (arity == 3 && name == "fma") {
    code.run = wide ? &run_fma<double> : &run_fma<float>;
  }
  return code.run != nullptr;
}

}  // namespace tilewright::ir::detail::interp
