// Random numbers that are the same on every machine.
//
// The generator is counter based (SplitMix; Steele, Lea and Flood, OOPSLA 14): a draw is a hash of
// seed + n * gamma, so a state is two words, a copy costs nothing, and `split` gives a stream that
// is independent of its parent. Not for cryptography.
#pragma once

#include <cstdint>

#include <tilewright/config.hpp>

namespace tilewright::support {

/// Splittable stream of 64-bit numbers.
class random {
 public:
  explicit random(std::uint64_t seed) : state_(seed) {}

  /// Uniform over all 64-bit values.
  std::uint64_t next();
  /// Uniform over [0, n), without bias; n = 0 gives 0.
  std::uint64_t below(std::uint64_t n);
  /// Uniform over [0, 1), 53 bits.
  double unit();
  /// A new independent stream; advances this one.
  random split();

  friend bool operator==(const random&, const random&) = default;

 private:
  random(std::uint64_t state, std::uint64_t gamma) : state_(state), gamma_(gamma) {}

  std::uint64_t state_;
  std::uint64_t gamma_ = 0x9e3779b97f4a7c15;  // odd
};

}  // namespace tilewright::support
