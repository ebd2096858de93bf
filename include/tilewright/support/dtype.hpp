// Element types and their properties.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright {

/// Element type of a tensor or the type of a scalar expression.
enum class dtype : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  handle  // a pointer; the type of expressions only, never of elements
};

/// The types of elements.
inline constexpr dtype all_dtypes[] = {
    dtype::boolean, dtype::i8,  dtype::i16, dtype::i32,  dtype::i64, dtype::u8, dtype::u16,
    dtype::u32,     dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64};

constexpr bool is_float(dtype t) { return t >= dtype::f16 && t <= dtype::f64; }
constexpr bool is_unsigned(dtype t) { return t >= dtype::u8 && t <= dtype::u64; }
constexpr bool is_signed_integer(dtype t) { return t >= dtype::i8 && t <= dtype::i64; }
/// Signed or unsigned integer; boolean is none.
constexpr bool is_integer(dtype t) { return t >= dtype::i8 && t <= dtype::u64; }

/// Width of a value in bits; a boolean has one.
constexpr int bits(dtype t) {
  switch (t) {
    case dtype::boolean: return 1;
    case dtype::i8:
    case dtype::u8: return 8;
    case dtype::i16:
    case dtype::u16:
    case dtype::f16:
    case dtype::bf16: return 16;
    case dtype::i32:
    case dtype::u32:
    case dtype::f32: return 32;
    case dtype::i64:
    case dtype::u64:
    case dtype::f64:
    case dtype::handle: return 64;
  }
  return 0;
}

/// Size of a stored element in bytes.
constexpr int bytes(dtype t) { return t == dtype::boolean ? 1 : bits(t) / 8; }

/// Name as scripts write it: "float32", "int8", "bool", ...
constexpr std::string_view name(dtype t) {
  switch (t) {
    case dtype::boolean: return "bool";
    case dtype::i8: return "int8";
    case dtype::i16: return "int16";
    case dtype::i32: return "int32";
    case dtype::i64: return "int64";
    case dtype::u8: return "uint8";
    case dtype::u16: return "uint16";
    case dtype::u32: return "uint32";
    case dtype::u64: return "uint64";
    case dtype::f16: return "float16";
    case dtype::bf16: return "bfloat16";
    case dtype::f32: return "float32";
    case dtype::f64: return "float64";
    case dtype::handle: return "handle";
  }
  return "";
}

/// Inverse of `name` for the types of elements; nothing when none of them has that name.
constexpr std::optional<dtype> dtype_from_name(std::string_view text) {
  for (dtype t : all_dtypes)
    if (name(t) == text) return t;
  return std::nullopt;
}

}  // namespace tilewright
