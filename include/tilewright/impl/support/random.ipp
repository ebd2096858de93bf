#pragma once

#include <bit>

#include <tilewright/support/random.hpp>

namespace tilewright::support {
namespace detail {

inline std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// An odd increment whose bits change often enough for the sequence of hashes to look random.
inline std::uint64_t mix_gamma(std::uint64_t z) {
  z = (z ^ (z >> 33)) * 0xff51afd7ed558ccd;
  z = (z ^ (z >> 33)) * 0xc4ceb9fe1a85ec53;
  z = (z ^ (z >> 33)) | 1;
  return std::popcount(z ^ (z >> 1)) < 24 ? z ^ 0xaaaaaaaaaaaaaaaa : z;
}

}  // namespace detail

TILEWRIGHT_INLINE std::uint64_t random::next() {
  state_ += gamma_;
  return detail::mix64(state_);
}

TILEWRIGHT_INLINE std::uint64_t random::below(std::uint64_t n) {
  if (n == 0) return 0;
  const std::uint64_t rest = (0 - n) % n;  // 2^64 mod n: the values that would favour small results
  for (;;) {
    const std::uint64_t draw = next();
    if (draw >= rest) return draw % n;
  }
}

TILEWRIGHT_INLINE double random::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

TILEWRIGHT_INLINE random random::split() {
  const std::uint64_t state = next();
  state_ += gamma_;
  return random(state, detail::mix_gamma(state_));
}

}  // namespace tilewright::support
