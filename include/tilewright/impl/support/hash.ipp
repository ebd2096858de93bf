#pragma once

#include <tilewright/support/hash.hpp>

namespace tilewright::support {
namespace detail {

inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace detail

TILEWRIGHT_INLINE void hasher::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  for (std::size_t start = 0; start < text.size(); start += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = start; i < text.size() && i < start + 8; ++i)
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i - start));
    add(word);
  }
}

TILEWRIGHT_INLINE hash128 hasher::finish() const {
  // Crossing the lanes once makes either half alone depend on both.
  const std::uint64_t hi = detail::scramble_b(hi_ + (lo_ << 1 | lo_ >> 63));
  return {hi, detail::scramble_a(lo_ ^ hi)};
}

TILEWRIGHT_INLINE std::string hash128::hex() const {
  std::string out(32, '0');
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t half = i < 16 ? hi : lo;
    out[i] = "0123456789abcdef"[(half >> (60 - 4 * (i % 16))) & 15];
  }
  return out;
}

TILEWRIGHT_INLINE std::optional<hash128> hash128::from_hex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  hash128 out;
  for (std::size_t i = 0; i < 32; ++i) {
    const int digit = detail::hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    std::uint64_t& half = i < 16 ? out.hi : out.lo;
    half = half << 4 | static_cast<std::uint64_t>(digit);
  }
  return out;
}

}  // namespace tilewright::support
