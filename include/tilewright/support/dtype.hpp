// Element types and their properties.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilewright {

/// Element type of a tensor or the type of a scalar expression. The enumerators are the types that
/// machines compute with. Scripts name more of them, which are values in between: integers of any
/// width (`integer_type`), floats of 8 bits and less, and vectors (`vector_type`). The numbers are
/// part of the keys of workloads.
///
/// Bits 0 to 7: the element; 8 to 23: lanes - 1; 24: the lanes count for each vscale of the
/// machine.
enum class dtype : std::uint32_t {
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

/// The types of elements that machines compute with.
inline constexpr dtype all_dtypes[] = {
    dtype::boolean, dtype::i8,  dtype::i16, dtype::i32,  dtype::i64, dtype::u8, dtype::u16,
    dtype::u32,     dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64};

namespace detail::dtypes {

inline constexpr std::uint32_t first_narrow_float = 32, first_signed = 64, first_unsigned = 128;

struct narrow_float_entry {
  std::string_view name;
  int bits;
};
/// Their positions are their numbers.
inline constexpr std::array<narrow_float_entry, 11> narrow_floats{{{"float8_e3m4", 8},
                                                                   {"float8_e4m3", 8},
                                                                   {"float8_e4m3b11fnuz", 8},
                                                                   {"float8_e4m3fn", 8},
                                                                   {"float8_e4m3fnuz", 8},
                                                                   {"float8_e5m2", 8},
                                                                   {"float8_e5m2fnuz", 8},
                                                                   {"float8_e8m0fnu", 8},
                                                                   {"float6_e2m3fn", 6},
                                                                   {"float6_e3m2fn", 6},
                                                                   {"float4_e2m1fn", 4}}};

constexpr std::uint32_t code(dtype t) { return static_cast<std::uint32_t>(t) & 0xffu; }

}  // namespace detail::dtypes

/// Elements of a vector, for each vscale where it is scalable; 1 for a scalar.
constexpr int lanes(dtype t) {
  return static_cast<int>(static_cast<std::uint32_t>(t) >> 8 & 0xffffu) + 1;
}
constexpr bool is_scalable(dtype t) { return (static_cast<std::uint32_t>(t) >> 24 & 1u) != 0; }
constexpr bool is_vector(dtype t) { return static_cast<std::uint32_t>(t) > 0xffu; }
/// Type of one lane; a scalar's own.
constexpr dtype element_of(dtype t) { return static_cast<dtype>(detail::dtypes::code(t)); }

inline constexpr int most_lanes = 1 << 16;

/// Vector of `count` elements of the scalar type, 1 to `most_lanes`; one element is a scalar.
constexpr dtype vector_type(dtype scalar, int count, bool scalable = false) {
  return static_cast<dtype>(detail::dtypes::code(scalar) |
                            static_cast<std::uint32_t>(count - 1) << 8 |
                            static_cast<std::uint32_t>(scalable) << 24);
}
/// The type with the lanes of another one.
constexpr dtype with_lanes(dtype scalar, dtype like) {
  return static_cast<dtype>(detail::dtypes::code(scalar) |
                            (static_cast<std::uint32_t>(like) & ~std::uint32_t{0xff}));
}

/// Integer of 1 to 64 bits. An unsigned one of one bit is `boolean`.
constexpr dtype integer_type(int width, bool is_unsigned) {
  if (is_unsigned && width == 1) return dtype::boolean;
  switch (width) {
    case 8: return is_unsigned ? dtype::u8 : dtype::i8;
    case 16: return is_unsigned ? dtype::u16 : dtype::i16;
    case 32: return is_unsigned ? dtype::u32 : dtype::i32;
    case 64: return is_unsigned ? dtype::u64 : dtype::i64;
    default: break;
  }
  using namespace detail::dtypes;
  return static_cast<dtype>((is_unsigned ? first_unsigned : first_signed) +
                            static_cast<std::uint32_t>(width));
}

/// A float of 8 bits or less.
constexpr bool is_narrow_float(dtype t) {
  const std::uint32_t c = detail::dtypes::code(t);
  return c >= detail::dtypes::first_narrow_float && c < detail::dtypes::first_signed;
}
/// An integer whose width no enumerator has, a bit-precise one in the words of C.
constexpr bool is_bit_integer(dtype t) {
  return detail::dtypes::code(t) >= detail::dtypes::first_signed;
}

/// @name Kinds, of the elements where the type is a vector
/// @{
constexpr bool is_float(dtype t) {
  const dtype e = element_of(t);
  return (e >= dtype::f16 && e <= dtype::f64) || is_narrow_float(e);
}
constexpr bool is_unsigned(dtype t) {
  const dtype e = element_of(t);
  return (e >= dtype::u8 && e <= dtype::u64) ||
         detail::dtypes::code(e) >= detail::dtypes::first_unsigned;
}
/// Signed or unsigned integer; boolean is none.
constexpr bool is_integer(dtype t) {
  const dtype e = element_of(t);
  return (e >= dtype::i8 && e <= dtype::u64) || is_bit_integer(e);
}
constexpr bool is_signed_integer(dtype t) { return is_integer(t) && !is_unsigned(t); }
constexpr bool is_boolean(dtype t) { return element_of(t) == dtype::boolean; }
/// @}

/// Width of a value, or of one lane of a vector, in bits; a boolean has one.
constexpr int bits(dtype t) {
  using namespace detail::dtypes;
  const std::uint32_t c = code(t);
  switch (static_cast<dtype>(c)) {
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
  if (is_narrow_float(t)) return narrow_floats[c - first_narrow_float].bits;
  return static_cast<int>(c & 0x3fu);
}

/// Size of a stored element in bytes: of each lane the smallest of 1, 2, 4 and 8 that holds it.
constexpr int bytes(dtype t) {
  const int width = bits(t);
  return (width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : 8) * lanes(t);
}

/// The type that memory holds an element as: an integer of a width of no enumerator is kept in the
/// next wider one, a float of 8 bits or less as its bits.
constexpr dtype stored_as(dtype scalar) {
  if (is_narrow_float(scalar)) return dtype::u8;
  return is_bit_integer(scalar) ? integer_type(8 * bytes(scalar), is_unsigned(scalar)) : scalar;
}

/// Text of a name, without memory of its own.
class dtype_name {
 public:
  constexpr operator std::string_view() const { return {text_.data(), size_}; }  // NOLINT
  constexpr void add(std::string_view part) {
    for (const char c : part) text_[size_++] = c;
  }
  constexpr void add(int number) {
    if (number >= 10) add(number / 10);
    text_[size_++] = static_cast<char>('0' + number % 10);
  }
  friend constexpr bool operator==(const dtype_name& a, std::string_view b) {
    return std::string_view(a) == b;
  }

 private:
  std::array<char, 40> text_{};
  std::size_t size_ = 0;
};

namespace detail::dtypes {

constexpr void add_scalar_name(dtype_name& out, dtype t) {
  switch (t) {
    case dtype::boolean: return out.add("bool");
    case dtype::i8: return out.add("int8");
    case dtype::i16: return out.add("int16");
    case dtype::i32: return out.add("int32");
    case dtype::i64: return out.add("int64");
    case dtype::u8: return out.add("uint8");
    case dtype::u16: return out.add("uint16");
    case dtype::u32: return out.add("uint32");
    case dtype::u64: return out.add("uint64");
    case dtype::f16: return out.add("float16");
    case dtype::bf16: return out.add("bfloat16");
    case dtype::f32: return out.add("float32");
    case dtype::f64: return out.add("float64");
    case dtype::handle: return out.add("handle");
  }
  if (is_narrow_float(t)) return out.add(narrow_floats[code(t) - first_narrow_float].name);
  out.add(is_unsigned(t) ? "uint" : "int");
  out.add(bits(t));
}

/// The number that the text is, of at most five digits; 0 for any other text.
constexpr int number_in(std::string_view text) {
  int out = 0;
  if (text.empty() || text.size() > 5 || text[0] == '0') return 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    out = 10 * out + (c - '0');
  }
  return out;
}

constexpr std::optional<dtype> scalar_from_name(std::string_view text) {
  for (dtype t : all_dtypes) {
    dtype_name known;
    add_scalar_name(known, t);
    if (known == text) return t;
  }
  for (std::size_t i = 0; i < narrow_floats.size(); ++i)
    if (narrow_floats[i].name == text)
      return static_cast<dtype>(first_narrow_float + static_cast<std::uint32_t>(i));
  const bool without_sign = text.substr(0, 4) == "uint";
  if (!without_sign && text.substr(0, 3) != "int") return std::nullopt;
  const int width = number_in(text.substr(without_sign ? 4 : 3));
  if (width < 1 || width > 64) return std::nullopt;
  return integer_type(width, without_sign);
}

}  // namespace detail::dtypes

/// Name as scripts write it: "float32", "int4", "bool", "float32x4", "int8xvscalex16", ...
constexpr dtype_name name(dtype t) {
  dtype_name out;
  detail::dtypes::add_scalar_name(out, element_of(t));
  if (!is_vector(t)) return out;
  out.add(is_scalable(t) ? "xvscalex" : "x");
  out.add(lanes(t));
  return out;
}

/// Inverse of `name` for the types of elements; nothing when none of them has that name.
constexpr std::optional<dtype> dtype_from_name(std::string_view text) {
  if (const auto scalar = detail::dtypes::scalar_from_name(text)) return scalar;
  const std::size_t x = text.rfind('x');
  if (x == std::string_view::npos) return std::nullopt;
  const int count = detail::dtypes::number_in(text.substr(x + 1));
  constexpr std::string_view scale = "xvscale";
  std::string_view rest = text.substr(0, x);
  const bool scalable =
      rest.size() > scale.size() && rest.substr(rest.size() - scale.size()) == scale;
  if (scalable) rest = rest.substr(0, rest.size() - scale.size());
  const auto scalar = detail::dtypes::scalar_from_name(rest);
  if (!scalar || count < 1 || count > most_lanes) return std::nullopt;
  return vector_type(*scalar, count, scalable);
}

}  // namespace tilewright
