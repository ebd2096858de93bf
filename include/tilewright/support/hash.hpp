// 128-bit content hashes that are the same on every machine.
//
// They key databases and files, so the algorithm is part of the format: it works on 64-bit words
// and on bytes in little-endian order, never on memory as it lies. Not for adversarial input.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// Result of a `hasher`.
struct hash128 {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;

  /// 32 lower-case hexadecimal digits, `hi` first.
  std::string hex() const;
  /// Inverse of `hex`; nothing when `text` is not 32 hexadecimal digits.
  static std::optional<hash128> from_hex(std::string_view text);
  friend auto operator<=>(const hash128&, const hash128&) = default;
};

namespace detail {

/// Bijections with full avalanche (MurmurHash3's finalizer and its variant 13).
inline std::uint64_t scramble_a(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}
inline std::uint64_t scramble_b(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace detail

/// Hashes a sequence of words and strings; the order and the split into strings count.
class hasher {
 public:
  void add(std::uint64_t word) {
    // Each lane is a bijection of its state for a given word, and of the word for a given state.
    hi_ = detail::scramble_a(hi_ ^ word) + 0x2545f4914f6cdd1du;
    lo_ = detail::scramble_b(lo_ + word * 0x9fb21c651e98df25u) ^ 0x589965cc75374cc3u;
  }
  void add(std::string_view text);
  hash128 finish() const;

 private:
  std::uint64_t hi_ = 0x9e3779b97f4a7c15u;
  std::uint64_t lo_ = 0xd1b54a32d192ed03u;
};

}  // namespace tilewright::support

template <>
struct std::hash<tilewright::support::hash128> {
  std::size_t operator()(const tilewright::support::hash128& h) const noexcept {
    return static_cast<std::size_t>(h.lo);
  }
};
