// C++ types of tensor elements and their dtypes.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tilewright/support/dtype.hpp>
#include <tilewright/support/numbers/float16.hpp>

namespace tilewright {
namespace dsl {

/// Type of index arithmetic; its width is decided when extents are known.
struct index {};

/// @cond
template <class T>
constexpr int dtype_number() {
  if constexpr (std::is_same_v<T, bool>)
    return static_cast<int>(dtype::boolean);
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<int>(dtype::f32);
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<int>(dtype::f64);
  else if constexpr (std::is_same_v<T, float16>)
    return static_cast<int>(dtype::f16);
  else if constexpr (std::is_same_v<T, bfloat16>)
    return static_cast<int>(dtype::bf16);
  else if constexpr (std::is_same_v<T, index>)
    return static_cast<int>(dtype::i64);
  else if constexpr (std::is_integral_v<T>) {
    constexpr int width = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<int>(std::is_signed_v<T> ? dtype::i8 : dtype::u8) + width;
  } else
    return -1;
}
/// @endcond

/// Types that a tensor may hold: bool, 8 to 64 bit integers, float16, bfloat16, float, double.
template <class T>
concept element =
    std::is_same_v<T, std::remove_cv_t<T>> && !std::is_same_v<T, index> && dtype_number<T>() >= 0;

template <class T>
inline constexpr dtype dtype_of = static_cast<dtype>(dtype_number<T>());

/// One C++ type per dtype, so that `long` and `long long` of one width are the same expression
/// type.
template <dtype T>
struct cpp_type;
template <>
struct cpp_type<dtype::boolean> {
  using type = bool;
};
template <>
struct cpp_type<dtype::i8> {
  using type = std::int8_t;
};
template <>
struct cpp_type<dtype::i16> {
  using type = std::int16_t;
};
template <>
struct cpp_type<dtype::i32> {
  using type = std::int32_t;
};
template <>
struct cpp_type<dtype::i64> {
  using type = std::int64_t;
};
template <>
struct cpp_type<dtype::u8> {
  using type = std::uint8_t;
};
template <>
struct cpp_type<dtype::u16> {
  using type = std::uint16_t;
};
template <>
struct cpp_type<dtype::u32> {
  using type = std::uint32_t;
};
template <>
struct cpp_type<dtype::u64> {
  using type = std::uint64_t;
};
template <>
struct cpp_type<dtype::f16> {
  using type = float16;
};
template <>
struct cpp_type<dtype::bf16> {
  using type = bfloat16;
};
template <>
struct cpp_type<dtype::f32> {
  using type = float;
};
template <>
struct cpp_type<dtype::f64> {
  using type = double;
};

template <class T>
using canonical = typename cpp_type<dtype_of<T>>::type;

template <class T>
inline constexpr bool is_float_element = is_float(dtype_of<T>);
template <class T>
inline constexpr bool is_integer_element = is_integer(dtype_of<T>);

/// Whether a tensor of type T may hold the value, rounded where T is a floating-point type. Infinities stand for the
/// highest and the lowest value of types without one.
template <class T>
constexpr bool has_element_value(double value) {
  constexpr double most = std::numeric_limits<double>::max();
  if (value > most || value < -most) return !std::is_same_v<T, bool>;
  if constexpr (std::is_same_v<T, bool>) {
    return value == 0 || value == 1;
  } else if constexpr (is_integer_element<T>) {
    constexpr int digits =
        std::numeric_limits<T>::digits < 63 ? std::numeric_limits<T>::digits : 63;
    constexpr double end = 2.0 * static_cast<double>(std::uint64_t{1} << (digits - 1));
    if (value >= end || value < (std::is_signed_v<T> ? -end : 0)) return false;
    return static_cast<double>(static_cast<std::int64_t>(value)) == value;
  } else {
    constexpr double end = dtype_of<T> == dtype::f16 ? 65504
                           : dtype_of<T> == dtype::f64
                               ? most
                               : static_cast<double>(std::numeric_limits<float>::max());
    return value <= end && value >= -end;
  }
}

/// The value as an element of type T.
template <class T>
T element_value(double value) {
  if constexpr (std::is_integral_v<T>) {
    if (value > std::numeric_limits<double>::max()) return std::numeric_limits<T>::max();
    if (value < -std::numeric_limits<double>::max()) return std::numeric_limits<T>::lowest();
    return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

}  // namespace dsl
}  // namespace tilewright
