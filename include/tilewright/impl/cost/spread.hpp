// How an index moves while the loops around it run, in numbers: enough for footprints, not for
// proofs. Sums of loops are exact; quotients and remainders by constants are exact where tiles are
// aligned.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace tilewright::cost::detail {

/// Loops beyond this depth have no coefficient of their own.
inline constexpr std::size_t deepest = 24;

/// An index as a function of the loops around it, outermost first.
struct spread {
  std::size_t depth = 0;  // entries of coefficient that count; others are 0
  double base = 0;        // where all loops are at their start
  bool known = true;      // false: may be anywhere
  bool linear = true;     // width follows from the coefficients
  bool in_lanes = false;  // whether `lanes` says something
  std::array<double, 6>
      lanes;  // in the lanes 0, 1, 2, 4, 8 and 16 of a warp, other loops at their start
  std::array<double, deepest> coefficient;  // elements per iteration of a loop
  std::array<double, deepest + 1> width;    // [l]: elements met while the loops l and deeper run

  double moved_by(std::size_t loop) const { return loop < depth ? coefficient[loop] : 0; }
  double extent(std::size_t from) const { return from < depth ? width[from] : 1; }
  double in_lane(std::size_t i) const { return in_lanes ? lanes[i] : base; }
};

/// Operations on spreads over one nest of loops.
struct spread_algebra {
  const double* extents;
  std::size_t depth;

  spread constant(double value) const {
    spread out;
    out.base = value;
    out.width[0] = 1;
    return out;
  }

  spread loop(std::size_t index, double start) const {
    spread out = constant(start);
    if (index >= deepest) return out;
    out.depth = index + 1;
    std::fill_n(out.coefficient.begin(), index, 0.0);
    out.coefficient[index] = 1;
    measure(out);
    return out;
  }

  /// The loop over the threads of a warp.
  spread lane_loop(std::size_t index, double start) const {
    spread out = loop(index, start);
    out.in_lanes = true;
    out.lanes = {start, start + 1, start + 2, start + 4, start + 8, start + 16};
    return out;
  }

  /// Anywhere in memory, chosen anew by the loops that move `by`.
  /// @param step what an iteration of one of these goes on by; where nobody knows, far
  spread anywhere(const spread& by, double step) const {
    spread out = by;
    out.known = false;
    for (std::size_t i = 0; i < out.depth; ++i)
      if (out.coefficient[i] != 0) out.coefficient[i] = step;
    return out;
  }

  /// a + sign * b.
  spread sum(const spread& a, const spread& b, double sign) const {
    spread out;
    out.depth = std::max(a.depth, b.depth);
    out.base = a.base + sign * b.base;
    out.known = a.known && b.known;
    out.linear = a.linear && b.linear;
    out.in_lanes = a.in_lanes || b.in_lanes;
    if (out.in_lanes)
      for (std::size_t i = 0; i < out.lanes.size(); ++i)
        out.lanes[i] = a.in_lane(i) + sign * b.in_lane(i);
    for (std::size_t i = 0; i < out.depth; ++i)
      out.coefficient[i] = a.moved_by(i) + sign * b.moved_by(i);
    if (out.linear)
      measure(out);
    else
      for (std::size_t i = 0; i <= out.depth; ++i) out.width[i] = a.extent(i) + b.extent(i) - 1;
    return out;
  }

  spread product(const spread& a, double by) const {
    spread out = a;
    out.base *= by;
    if (out.in_lanes)
      for (double& x : out.lanes) x *= by;
    for (std::size_t i = 0; i < out.depth; ++i) out.coefficient[i] *= by;
    for (std::size_t i = 0; i <= out.depth; ++i) out.width[i] = (a.width[i] - 1) * std::abs(by) + 1;
    return out;
  }

  spread quotient(const spread& a, double by) const {
    if (by <= 1) return a;
    const spread rest = remainder(a, by);
    spread out = a;
    out.base = std::floor(a.base / by);
    if (out.in_lanes)
      for (double& x : out.lanes) x = std::floor(x / by);
    const bool aligned = a.linear && rest.linear;
    for (std::size_t i = 0; i < out.depth; ++i)
      out.coefficient[i] =
          aligned ? (a.coefficient[i] - rest.coefficient[i]) / by : a.coefficient[i] / by;
    out.linear = aligned;
    if (aligned)
      measure(out);
    else
      for (std::size_t i = 0; i <= out.depth; ++i)
        out.width[i] = std::floor((a.width[i] - 1) / by) + 1;
    return out;
  }

  /// Linear where the parts that are no multiples of `by` stay within one period.
  spread remainder(const spread& a, double by) const {
    if (by <= 1) return constant(0);
    spread out = a;
    out.base = a.base - std::floor(a.base / by) * by;
    if (out.in_lanes)
      for (double& x : out.lanes) x -= std::floor(x / by) * by;
    for (std::size_t i = 0; i < out.depth; ++i)
      if (std::fmod(a.coefficient[i], by) == 0) out.coefficient[i] = 0;
    if (a.linear) {
      measure(out);
      if (out.base + out.width[0] <= by) return out;
    }
    out.linear = false;
    for (std::size_t i = 0; i <= out.depth; ++i) out.width[i] = std::min(out.width[i], by);
    return out;
  }

  /// One of both.
  spread either(const spread& a, const spread& b) const {
    spread out;
    out.depth = std::max(a.depth, b.depth);
    out.base = std::min(a.base, b.base);
    out.in_lanes = a.in_lanes;
    if (out.in_lanes) out.lanes = a.lanes;
    out.known = a.known && b.known;
    out.linear = false;
    for (std::size_t i = 0; i < out.depth; ++i)
      out.coefficient[i] =
          std::abs(a.moved_by(i)) > std::abs(b.moved_by(i)) ? a.moved_by(i) : b.moved_by(i);
    for (std::size_t i = 0; i <= out.depth; ++i) out.width[i] = std::max(a.extent(i), b.extent(i));
    return out;
  }

 private:
  void measure(spread& s) const {
    s.width[s.depth] = 1;
    for (std::size_t i = s.depth; i-- > 0;)
      s.width[i] = s.width[i + 1] + std::abs(s.coefficient[i]) * (extents[i] - 1);
  }
};

}  // namespace tilewright::cost::detail
