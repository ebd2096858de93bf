// The functions by name. The errors that backend/llvm/math.hpp states are measured by its test.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <tilewright/backend/llvm/math.hpp>
#include <tilewright/impl/backend/llvm/functions/cube_root.hpp>
#include <tilewright/impl/backend/llvm/functions/hyperbolic.hpp>
#include <tilewright/impl/backend/llvm/functions/hypotenuse.hpp>
#include <tilewright/impl/backend/llvm/functions/inverse_hyperbolic.hpp>
#include <tilewright/impl/backend/llvm/functions/inverse_trigonometric.hpp>
#include <tilewright/impl/backend/llvm/functions/power.hpp>
#include <tilewright/impl/backend/llvm/functions/reciprocal_root.hpp>
#include <tilewright/impl/backend/llvm/functions/remainder.hpp>
#include <tilewright/impl/backend/llvm/functions/saturating.hpp>
#include <tilewright/impl/backend/llvm/functions/trigonometric.hpp>

namespace tilewright::backend::llvm {
namespace detail::math {

struct named_intrinsic {
  std::string_view name;
  const char* intrinsic;  // of LLVM, cheap on every target or a libm call without SSE4.1
};

inline constexpr std::array<named_intrinsic, 8> plain_functions{{
    {"sqrt", "llvm.sqrt"},
    {"abs", "llvm.fabs"},
    {"fabs", "llvm.fabs"},
    {"floor", "llvm.floor"},
    {"ceil", "llvm.ceil"},
    {"trunc", "llvm.trunc"},
    {"round", "llvm.nearbyint"},
    {"nearbyint", "llvm.nearbyint"},
}};

/// Tests of the bits rather than of the value, which no later pass may take for always false.
inline value_ref predicate(const num& x, std::string_view name) {
  const value_ref magnitude =
      x.b->binary(opcode::and_, x.raw(), x.integer(x.wide ? 0x7fffffffffffffff : 0x7fffffff));
  const value_ref infinity = x.integer(x.wide ? 0x7ff0000000000000 : 0x7f800000);
  const int_predicate p = name == "isnan"   ? int_predicate::ugt
                          : name == "isinf" ? int_predicate::eq
                                            : int_predicate::ult;
  return x.b->compare(p, magnitude, infinity);
}

inline value_ref unary(const num& x, std::string_view name) {
  if (name == "exp") return exp(x).v;
  if (name == "exp2") return exp2(x).v;
  if (name == "log") return log(x).v;
  if (name == "log2") return log_base(x, 0x1.71547652b82fep0, 1.0).v;
  if (name == "log10") return log_base(x, 0x1.bcb7b1526e50ep-2, 0x1.34413509f79ffp-2).v;
  if (name == "sigmoid") return sigmoid(x).v;
  if (name == "rsqrt") return rsqrt(x).v;
  if (name == "exp10") return (x.wide ? pow_f64(x.number(10.0), x) : exp10_f32(x)).v;
  if (name == "tanh") return (x.wide ? tanh_f64(x) : tanh_f32(x)).v;
  if (name == "sin" || name == "cos") return sine_or_cosine(x, name == "cos").v;
  if (name == "erf") return (x.wide ? erf_f64(x) : erf_f32(x)).v;
  if (name == "log1p") return log1p(x).v;
  if (name == "expm1") return expm1(x).v;
  if (name == "tan") return tangent(x).v;
  if (name == "asin") return asin(x).v;
  if (name == "acos") return acos(x).v;
  if (name == "atan") return atan(x).v;
  if (name == "sinh" || name == "cosh") return hyperbolic(x, name == "cosh").v;
  if (name == "asinh") return asinh(x).v;
  if (name == "acosh") return acosh(x).v;
  if (name == "atanh") return atanh(x).v;
  if (name == "cbrt") return cbrt(x).v;
  if (name == "isnan" || name == "isinf" || name == "isfinite") return predicate(x, name);
  for (const named_intrinsic& f : plain_functions)
    if (f.name == name) return x.unary(f.intrinsic).v;
  return nullptr;
}

}  // namespace detail::math

TILEWRIGHT_INLINE value_ref emit_math(builder& b, std::string_view name, bool is_f64,
                                      const std::vector<value_ref>& arguments, int lanes) {
  namespace m = detail::math;
  const m::num x{&b, arguments.at(0), is_f64, lanes};
  if (arguments.size() == 1) return m::unary(x, name);
  if (arguments.size() == 3 && name == "fma") return b.intrinsic("llvm.fma", {x.type()}, arguments);
  if (arguments.size() != 2) return nullptr;
  if (name == "pow" && !is_f64) return m::pow_f32(x, x.with(arguments[1])).v;
  if (name == "pow") return m::pow_f64(x, x.with(arguments[1])).v;
  if (name == "maximum" || name == "minimum") {  // a NaN on the right comes through the comparison
    const m::num y = x.with(arguments[1]);
    const auto order = name == "maximum" ? real_predicate::ogt : real_predicate::olt;
    return m::choose(m::test(real_predicate::uno, x, x), x, m::choose(m::test(order, x, y), x, y))
        .v;
  }
  if (name == "copysign") return b.intrinsic("llvm.copysign", {x.type()}, arguments);
  if (name == "atan2") return m::atan2(x, x.with(arguments[1])).v;
  if (name == "hypot") return m::hypot(x, x.with(arguments[1])).v;
  if (name == "fmod") return m::fmod(x, x.with(arguments[1])).v;
  if (name == "nextafter") return m::call_library(x, "nextafter", arguments);
  return nullptr;
}

}  // namespace tilewright::backend::llvm
