// The matrices of Winograd's algorithm for windows of three elements.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::ops::detail {

/// m results y of n = m + 2 elements x and a filter f: y = A ((G f) * (B x)), where * multiplies element
/// by element. Toom and Cook: values at n - 1 points and at infinity determine a polynomial of n
/// coefficients.
struct winograd_transform {
  std::int64_t tile;      // m
  std::vector<double> a;  // [m, n]
  std::vector<double> b;  // [n, n]
  std::vector<double> g;  // [n, 3]
  std::int64_t points() const { return tile + 2; }
};

/// Numbers of few bits, since those of `a` and `b` have to be exact in f32; of these the ones that
/// round least. Tiles of 2, 4 and 6 have points.
inline std::vector<double> winograd_points(std::int64_t tile) {
  if (tile == 2) return {0, 1, -1};
  if (tile == 4) return {0, 0.75, -0.75, 1.5, -1.5};
  return {0, 1, -1, 2, -2, 0.5, -0.5};
}

inline winograd_transform transform_of_tile(std::int64_t tile) {
  const std::vector<double> points = winograd_points(tile);
  const std::size_t m = static_cast<std::size_t>(tile), n = points.size() + 1;
  winograd_transform out{tile, std::vector<double>(m * n), std::vector<double>(n * n),
                         std::vector<double>(n * 3)};
  /// Coefficients of the product of (x - p) over all points but number `without`.
  const auto product = [&](std::size_t without) {
    std::vector<double> c{1};
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (k == without) continue;
      c.push_back(0);
      for (std::size_t d = c.size(); d-- > 1;) c[d] = c[d - 1] - points[k] * c[d];
      c[0] *= -points[k];
    }
    return c;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    double divisor = 1;
    for (std::size_t k = 0; k < points.size(); ++k)
      if (k != i) divisor *= points[i] - points[k];
    for (std::size_t r = 0; r < m; ++r) out.a[r * n + i] = std::pow(points[i], r);
    for (std::size_t r = 0; r < 3; ++r) out.g[i * 3 + r] = std::pow(points[i], r) / divisor;
    const std::vector<double> c = product(i);
    for (std::size_t k = 0; k < c.size(); ++k) out.b[i * n + k] = c[k];
  }
  out.a[m * n - 1] = 1;
  out.g[n * 3 - 1] = 1;
  const std::vector<double> c = product(n);
  for (std::size_t k = 0; k < c.size(); ++k) out.b[(n - 1) * n + k] = c[k];
  return out;
}

}  // namespace tilewright::ops::detail
