#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <tilewright/cost/curve_features.hpp>
#include <tilewright/support/stable_sort.hpp>

namespace tilewright::cost {
namespace detail {

/// What the loops around a buffer say of it, each in the order of the loops.
struct touch_curve {
  std::vector<double> reuse{0}, count{0}, topdown{0};  // logarithms to base 2
  double bytes = 0;
};

/// "C_12": C.
inline std::string_view touched_name(const buffer_touch& t) {
  const std::string_view name(t.name);
  return name.substr(0, name.rfind('_'));
}

/// The touches that have curves, by the names of their buffers: the last ones at the deepest level.
inline std::map<std::string_view, std::string_view> deepest_touches(
    std::span<const loop_context> loops) {
  int deepest = 0;
  for (const loop_context& l : loops) deepest = std::max(deepest, l.nest);
  std::map<std::string_view, std::string_view> out;
  for (const loop_context& l : loops)
    if (l.nest == deepest)
      for (const buffer_touch& t : l.touches) out[touched_name(t)] = t.name;
  return out;
}

/// y at the last knot that is not above the point, and how far beyond it the point is.
inline void sample_curve(const std::vector<double>& x, const std::vector<double>& y,
                         std::size_t points, float* to) {
  for (std::size_t p = 0; p < points; ++p) {
    const auto point = static_cast<double>(p);
    const auto above = std::upper_bound(x.begin(), x.end(), point);
    const auto at = static_cast<std::size_t>(above - x.begin()) - 1;  // x starts at 0
    to[2 * p] = static_cast<float>(y[at]);
    to[2 * p + 1] = static_cast<float>(point - x[at]);
  }
}

}  // namespace detail

TILEWRIGHT_INLINE std::vector<float> curve_features(std::span<const loop_context> loops,
                                                    std::size_t points) {
  std::map<std::string_view, detail::touch_curve> by_touch;
  for (const auto& [buffer, touch] : detail::deepest_touches(loops)) by_touch[touch] = {};
  for (const loop_context& l : loops)
    for (const buffer_touch& t : l.touches) {
      const auto at = by_touch.find(t.name);
      if (at == by_touch.end()) continue;
      at->second.reuse.push_back(std::log2(std::max(t.reuse, 1.0)));
      at->second.count.push_back(std::log2(std::max(t.count, 1.0)));
      at->second.topdown.push_back(std::log2(std::max(l.topdown, 1.0)));
      at->second.bytes = std::max(at->second.bytes, t.count * t.bytes);
    }
  std::vector<detail::touch_curve> curves;
  for (auto& [touch, c] : by_touch) curves.push_back(std::move(c));
  support::stable_sort(curves, [](const detail::touch_curve& a, const detail::touch_curve& b) {
    return a.bytes > b.bytes;
  });
  std::vector<float> out(curve_buffers * 4 * points * 2, 0.0f);
  for (std::size_t b = 0; b < std::min(curves.size(), curve_buffers); ++b) {
    detail::touch_curve& c = curves[b];
    for (auto* knots : {&c.reuse, &c.count, &c.topdown}) std::sort(knots->begin(), knots->end());
    float* to = out.data() + b * 8 * points;
    detail::sample_curve(c.count, c.reuse, points, to);
    detail::sample_curve(c.reuse, c.count, points, to + 2 * points);
    detail::sample_curve(c.count, c.topdown, points, to + 4 * points);
    detail::sample_curve(c.topdown, c.count, points, to + 6 * points);
  }
  return out;
}

}  // namespace tilewright::cost
