// The 16-bit float types as values: storage and conversion, no arithmetic of their own.
//
// An operand converts to float, so that sums and products are computed in f32; rounding happens
// where a result is converted back, to nearest even. This is what the tensor IR defines for f16 and
// bf16.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace tilewright {
namespace detail::float16 {

/// Format of an IEEE-like binary float.
struct format {
  int exponent_bits;
  int mantissa_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int top_exponent() const { return (1 << exponent_bits) - 1; }
};
inline constexpr format half{5, 10}, brain{8, 7}, single{8, 23}, dual{11, 52};

/// The bits `raw` of format `from` in the narrower format `to`, rounded to nearest even; NaNs
/// become quiet.
constexpr std::uint16_t narrow(std::uint64_t raw, format from, format to) {
  const std::uint64_t one = std::uint64_t{1} << from.mantissa_bits;
  const int exponent = static_cast<int>(raw >> from.mantissa_bits) & from.top_exponent();
  const std::uint64_t mantissa = raw & (one - 1);
  const std::uint64_t sign = (raw >> (from.exponent_bits + from.mantissa_bits)) << 15;
  const std::uint64_t infinity = static_cast<std::uint64_t>(to.top_exponent()) << to.mantissa_bits;
  const int dropped = from.mantissa_bits - to.mantissa_bits;

  std::uint64_t magnitude = 0;
  if (exponent == from.top_exponent()) {
    const std::uint64_t quiet = std::uint64_t{1} << (to.mantissa_bits - 1);
    magnitude = mantissa == 0 ? infinity : infinity | quiet | (mantissa >> dropped);
  } else {
    const int target = exponent - from.bias() + to.bias();
    // value = significand * 2^(exponent - bias - mantissa_bits), for subnormal sources too.
    const std::uint64_t significand = exponent == 0 ? mantissa << 1 : mantissa | one;
    const int shift = target >= 1 ? dropped : dropped + 1 - target;
    if (target >= to.top_exponent()) {
      magnitude = infinity;
    } else if (shift <= from.mantissa_bits + 1) {
      const std::uint64_t kept = significand >> shift;
      const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
      const std::uint64_t tie = std::uint64_t{1} << (shift - 1);
      // A carry out of the mantissa runs into the exponent, up to infinity, as it should.
      const bool up = rest > tie || (rest == tie && (kept & 1) != 0);
      const std::uint64_t base =
          target >= 1 ? static_cast<std::uint64_t>(target - 1) << to.mantissa_bits : 0;
      magnitude = base + kept + (up ? 1 : 0);
    }
  }
  return static_cast<std::uint16_t>(sign | magnitude);
}

constexpr float widen_half(std::uint16_t raw) {
  const std::uint32_t sign = static_cast<std::uint32_t>(raw & 0x8000u) << 16;
  const std::uint32_t exponent = (raw >> 10) & 0x1fu;
  const std::uint32_t mantissa = raw & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // exact
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 127 - 15;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

}  // namespace detail::float16

/// IEEE binary16: 5 exponent bits, 10 mantissa bits.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  explicit constexpr float16(float value)
      : bits(detail::float16::narrow(std::bit_cast<std::uint32_t>(value), detail::float16::single,
                                     detail::float16::half)) {}
  explicit constexpr float16(double value)
      : bits(detail::float16::narrow(std::bit_cast<std::uint64_t>(value), detail::float16::dual,
                                     detail::float16::half)) {}
  template <std::integral Integer>
  explicit constexpr float16(Integer value) : float16(static_cast<double>(value)) {}

  static constexpr float16 from_bits(std::uint16_t raw) {
    float16 out;
    out.bits = raw;
    return out;
  }
  constexpr operator float() const { return detail::float16::widen_half(bits); }  // NOLINT
};

/// The upper half of a binary32: 8 exponent bits, 7 mantissa bits.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  explicit constexpr bfloat16(float value)
      : bits(detail::float16::narrow(std::bit_cast<std::uint32_t>(value), detail::float16::single,
                                     detail::float16::brain)) {}
  explicit constexpr bfloat16(double value)
      : bits(detail::float16::narrow(std::bit_cast<std::uint64_t>(value), detail::float16::dual,
                                     detail::float16::brain)) {}
  template <std::integral Integer>
  explicit constexpr bfloat16(Integer value) : bfloat16(static_cast<double>(value)) {}

  static constexpr bfloat16 from_bits(std::uint16_t raw) {
    bfloat16 out;
    out.bits = raw;
    return out;
  }
  constexpr operator float() const {  // NOLINT
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

}  // namespace tilewright
