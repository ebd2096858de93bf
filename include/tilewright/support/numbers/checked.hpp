// Arithmetic on extents, which come from files and calls and may be anything.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// a * b and a + b; nothing where 64 bits do not hold them.
constexpr std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}
constexpr std::optional<std::int64_t> checked_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a * b and a + b, or the end of the range that they lie beyond: for sizes that are only compared.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  using limits = std::numeric_limits<std::int64_t>;
  std::int64_t out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return out;
  return (a < 0) == (b < 0) ? limits::max() : limits::min();
}
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  using limits = std::numeric_limits<std::int64_t>;
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return a > 0 ? limits::max() : limits::min();
}

/// The product of numbers that are not negative; nothing where 64 bits do not hold it. A zero among
/// them makes it zero, however large the others are.
template <class Numbers>
constexpr std::optional<std::int64_t> checked_volume(const Numbers& numbers) {
  for (const std::int64_t n : numbers)
    if (n == 0) return 0;
  std::int64_t out = 1;
  for (const std::int64_t n : numbers)
    if (__builtin_mul_overflow(out, n, &out)) return std::nullopt;
  return out;
}

}  // namespace tilewright::support
