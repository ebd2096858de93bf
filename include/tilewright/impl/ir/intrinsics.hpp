// Intrinsic functions that scripts write as `T.name(...)`; every other call is a `T.call_extern`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <tilewright/support/any.hpp>
#include <tilewright/support/dtype.hpp>

namespace tilewright::ir::detail {

/// Sorted. The result has the type of the first argument, or boolean for those that start with
/// "is".
inline constexpr std::array<std::string_view, 53> script_intrinsics{
    "abs",   "acos",     "acosh",       "asin",        "asinh",      "assume",      "atan",
    "atan2", "atanh",    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil",
    "clz",   "copysign", "cos",         "cosh",        "erf",        "exp",         "exp10",
    "exp2",  "expm1",    "floor",       "fma",         "fmod",       "hypot",       "isfinite",
    "isinf", "isnan",    "ldexp",       "likely",      "log",        "log10",       "log1p",
    "log2",  "maximum",  "minimum",     "nearbyint",   "nextafter",  "popcount",    "pow",
    "round", "rsqrt",    "shift_left",  "shift_right", "sigmoid",    "sin",         "sinh",
    "sqrt",  "tan",      "tanh",        "trunc"};
static_assert(std::is_sorted(script_intrinsics.begin(), script_intrinsics.end()));

inline bool is_script_intrinsic(std::string_view name) {
  return std::binary_search(script_intrinsics.begin(), script_intrinsics.end(), name);
}

inline dtype intrinsic_type(std::string_view name, dtype first_argument) {
  return name.substr(0, 2) == "is" ? with_lanes(dtype::boolean, first_argument) : first_argument;
}

inline std::size_t intrinsic_arity(std::string_view name) {
  constexpr std::array<std::string_view, 14> two{
      "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "copysign", "fmod",       "hypot",
      "ldexp", "maximum",     "minimum",    "nextafter",   "pow",      "shift_left", "shift_right"};
  if (name == "fma") return 3;
  return support::contains(two, name) ? 2 : 1;
}

/// Operations on the bits of each number alone, which are the same on several numbers in one word but for the sum of bits.
inline bool works_on_bits(std::string_view name) {
  constexpr std::array<std::string_view, 5> all{"bitwise_and", "bitwise_not", "bitwise_or",
                                                "bitwise_xor", "popcount"};
  return support::contains(all, name);
}

}  // namespace tilewright::ir::detail
