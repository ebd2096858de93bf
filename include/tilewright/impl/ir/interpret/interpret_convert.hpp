// Conversions between types, and elements in memory.
#pragma once

#include <cmath>
#include <cstring>

#include <tilewright/impl/ir/interpret/interpret_arith.hpp>
#include <tilewright/support/numbers/float16.hpp>

namespace tilewright::ir::detail::interp {

template <dtype D, class T>
std::int64_t to_integer(T x) {
  if constexpr (D == dtype::boolean) return x != 0;
  if (std::isnan(x)) return 0;
  constexpr int width = bits(D);
  const double cut = std::trunc(static_cast<double>(x));
  const double top = std::ldexp(1.0, is_unsigned(D) ? width : width - 1);
  if (cut >= top) return highest_value(D)->integer;
  if (cut < (is_unsigned(D) ? 0.0 : -top)) return lowest_value(D)->integer;
  if constexpr (D == dtype::u64)
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(cut));
  else
    return static_cast<std::int64_t>(cut);
}

/// Value of a narrow float type after one rounding, held as float.
template <dtype D, class T>
float rounded(T x) {
  if constexpr (D == dtype::f16)
    return static_cast<float>(float16(x));
  else if constexpr (D == dtype::bf16)
    return static_cast<float>(bfloat16(x));
  else
    return static_cast<float>(x);
}

template <dtype To, dtype From>
value convert(const value& v) {
  using source = held_t<From>;
  const source x = get<source>(v);
  if constexpr (To == dtype::f64) {
    if constexpr (From == dtype::u64)
      return of_double(static_cast<double>(static_cast<std::uint64_t>(x)));
    else
      return of_double(static_cast<double>(x));
  } else if constexpr (is_float(To)) {
    if constexpr (From == dtype::f64)
      return of_float(rounded<To>(x));
    else if constexpr (From == dtype::u64)
      return of_float(rounded<To>(static_cast<float>(static_cast<std::uint64_t>(x))));
    else
      return of_float(rounded<To>(static_cast<float>(x)));
  } else if constexpr (is_float(From)) {
    return of_int(to_integer<To>(x));
  } else {
    return of_int(wrap<To>(static_cast<std::uint64_t>(x)));
  }
}

template <dtype To, dtype From>
value run_cast(const expr_code& n, machine& m) {
  return convert<To, From>(eval(n.a, m));
}

template <dtype To>
evaluator pick_cast_to(dtype from) {
  switch (held_as(from)) {
    case dtype::f32: return &run_cast<To, dtype::f32>;
    case dtype::f64: return &run_cast<To, dtype::f64>;
    case dtype::u64: return &run_cast<To, dtype::u64>;
    default: return &run_cast<To, dtype::i64>;
  }
}

inline evaluator pick_cast(dtype to, dtype from) {
  return with_type(to, [&](auto t) { return pick_cast_to<decltype(t)::value>(from); });
}

template <class T>
T read_raw(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

template <dtype D>
value read_element(const std::byte* p) {
  if constexpr (D == dtype::boolean)
    return of_int(read_raw<std::uint8_t>(p) != 0);
  else if constexpr (D == dtype::i8)
    return of_int(read_raw<std::int8_t>(p));
  else if constexpr (D == dtype::i16)
    return of_int(read_raw<std::int16_t>(p));
  else if constexpr (D == dtype::i32)
    return of_int(read_raw<std::int32_t>(p));
  else if constexpr (D == dtype::u8)
    return of_int(read_raw<std::uint8_t>(p));
  else if constexpr (D == dtype::u16)
    return of_int(read_raw<std::uint16_t>(p));
  else if constexpr (D == dtype::u32)
    return of_int(read_raw<std::uint32_t>(p));
  else if constexpr (D == dtype::f32)
    return of_float(read_raw<float>(p));
  else if constexpr (D == dtype::f64)
    return of_double(read_raw<double>(p));
  else if constexpr (D == dtype::f16) {
    float16 h{};
    h.bits = read_raw<std::uint16_t>(p);
    return of_float(static_cast<float>(h));
  } else if constexpr (D == dtype::bf16) {
    bfloat16 h{};
    h.bits = read_raw<std::uint16_t>(p);
    return of_float(static_cast<float>(h));
  } else {
    return of_int(read_raw<std::int64_t>(p));
  }
}

template <dtype D>
void write_element(std::byte* p, const value& v) {
  if constexpr (D == dtype::f32) {
    std::memcpy(p, &v.f, 4);
  } else if constexpr (D == dtype::f64) {
    std::memcpy(p, &v.d, 8);
  } else if constexpr (D == dtype::f16) {
    const std::uint16_t raw = float16(v.f).bits;
    std::memcpy(p, &raw, 2);
  } else if constexpr (D == dtype::bf16) {
    const std::uint16_t raw = bfloat16(v.f).bits;
    std::memcpy(p, &raw, 2);
  } else if constexpr (bytes(D) == 1) {
    const auto raw = static_cast<std::uint8_t>(v.i);
    std::memcpy(p, &raw, 1);
  } else if constexpr (bytes(D) == 2) {
    const auto raw = static_cast<std::uint16_t>(v.i);
    std::memcpy(p, &raw, 2);
  } else if constexpr (bytes(D) == 4) {
    const auto raw = static_cast<std::uint32_t>(v.i);
    std::memcpy(p, &raw, 4);
  } else {
    std::memcpy(p, &v.i, 8);
  }
}

template <dtype D>
value run_bits(const expr_code& n, machine& m) {
  std::byte bytes_of[8]{};
  write_element<D>(bytes_of, eval(n.a, m));
  return of_int(read_raw<std::int64_t>(bytes_of));
}

template <dtype D>
value run_from_bits(const expr_code& n, machine& m) {
  std::byte bytes_of[8];
  write_element<dtype::i64>(bytes_of, eval(n.a, m));
  return read_element<D>(bytes_of);
}

/// The bits of a value of type `from`, as an integer.
inline evaluator pick_bits(dtype from) {
  return with_type(from, [](auto d) -> evaluator { return &run_bits<decltype(d)::value>; });
}

/// The value of type `to` that has the lowest bits of an integer.
inline evaluator pick_from_bits(dtype to) {
  return with_type(to, [](auto d) -> evaluator { return &run_from_bits<decltype(d)::value>; });
}

}  // namespace tilewright::ir::detail::interp
