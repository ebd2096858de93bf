// Integers modulo the prime 2^61 - 1, and two numbers beside them that stand for the infinities.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace tilewright::ir::detail::residue {

__extension__ using wide = unsigned __int128;

inline constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
inline constexpr std::uint64_t lowest = std::uint64_t{1} << 62, highest = lowest + 1;

constexpr std::uint64_t reduced(std::uint64_t x) {
  x = (x & prime) + (x >> 61);
  return x >= prime ? x - prime : x;
}
constexpr std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return reduced(reduced(a) + reduced(b));
}
constexpr std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
  return reduced(reduced(a) + (prime - reduced(b)));
}
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  const wide p = static_cast<wide>(reduced(a)) * reduced(b);
  return reduced(static_cast<std::uint64_t>(p & prime) + static_cast<std::uint64_t>(p >> 61));
}
constexpr std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t out = 1;
  for (; exponent; exponent >>= 1, base = product(base, base))
    if (exponent & 1) out = product(out, base);
  return out;
}
/// a / b; 0 where b is 0.
constexpr std::uint64_t quotient(std::uint64_t a, std::uint64_t b) {
  return product(a, power(reduced(b), prime - 2));
}

constexpr std::uint64_t of_signed(std::int64_t x) {
  const std::uint64_t size =
      x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  return x < 0 ? difference(0, size) : reduced(size);
}

/// Every finite float is m * 2^e, and 2^61 is 1. What a maximum or a minimum starts from is less or
/// more than everything: the infinities, and the largest finite numbers of the types that have them.
inline std::uint64_t of_float(double x) {
  for (const double most :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::max(),
        static_cast<double>(std::numeric_limits<float>::max()), 0x1.fep127, 65504.0}) {
    if (x == most) return highest;
    if (x == -most) return lowest;
  }
  if (std::isnan(x)) return 0x1234'5678'9abc'def;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  const int shift = (exponent - 53) % 61;
  return product(of_signed(mantissa),
                 power(2, static_cast<std::uint64_t>(shift < 0 ? shift + 61 : shift)));
}

/// An order without any meaning: the same for equal numbers, with both infinities at its ends.
constexpr bool less(std::uint64_t a, std::uint64_t b) {
  if (a == b || a == highest || b == lowest) return false;
  if (a == lowest || b == highest) return true;
  constexpr std::uint64_t scramble = 0x9e37'79b9'7f4a'7c15;
  return reduced(a) * scramble < reduced(b) * scramble;
}

/// A function of which nothing is known but that equal arguments give equal values.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const auto stir = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
  };
  return reduced(stir(stir(a + 0x9e37'79b9'7f4a'7c15) ^ b));
}

/// The names of the calls that the interpreter knows.
inline bool is_call(std::string_view name) { return name.substr(0, 4) == "mod."; }

}  // namespace tilewright::ir::detail::residue
