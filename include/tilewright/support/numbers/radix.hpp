// Sums of steps, as indices are sums of loops: each step adds its factor 0, 1, ..., count - 1 times.
//
//     v0 * 16 + v1 * 2 + v2      the steps (16, 4), (2, 8) and (1, 2)
//
// Taken in rising order, what lies below a step is told by one number, the largest sum of the smaller
// ones. A step that is larger by more than one leaves a gap; one that is not larger at all gives a sum
// a second time. A radix, as 10 in the decimal numbers, does neither.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <tilewright/support/short_vector.hpp>

namespace tilewright::support {

class radix {
 public:
  void add(std::int64_t factor, std::int64_t count) {
    steps_.push_back({factor, count});
    for (std::size_t i = steps_.size(); --i > 0 && steps_[i].factor < steps_[i - 1].factor;)
      std::swap(steps_[i], steps_[i - 1]);
  }
  std::size_t size() const noexcept { return steps_.size(); }

  /// The largest sum, of positive factors.
  std::int64_t reach() const noexcept {
    std::int64_t out = 0;
    for (const step& s : steps_) out += s.last();
    return out;
  }
  /// Whether some number from 0 to the largest sum is none, of positive factors.
  bool has_gaps() const noexcept {
    std::int64_t below = 0;
    for (const step& s : steps_) {
      if (s.factor > below + 1) return true;
      below += s.last();
    }
    return false;
  }
  /// How far apart sums are, at least, that differ in a step; 0 where two may be equal. Of positive
  /// factors; where they are not ordered so that each is larger than all below it make, two may.
  std::int64_t distance() const noexcept {
    std::int64_t below = 0, out = std::numeric_limits<std::int64_t>::max();
    for (const step& s : steps_) {
      if (s.factor <= below) return 0;
      out = std::min(out, s.factor - below);
      below += s.last();
    }
    return out;
  }
  /// Whether each number from 0 to the largest sum is one, and once: each factor is one more than what
  /// all below it make.
  bool is_exact() const noexcept {
    std::int64_t below = 0;
    for (const step& s : steps_) {
      if (s.factor != below + 1) return false;
      below += s.last();
    }
    return true;
  }

 private:
  struct step {
    std::int64_t factor, count;
    std::int64_t last() const noexcept { return factor * (count - 1); }
  };
  short_vector<step, 8> steps_;  // in rising order of their factors
};

}  // namespace tilewright::support
