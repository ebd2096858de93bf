// How far results may be from those of the same computation in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace bench {

/// Largest difference of `got` from `want`, relative to the largest element of `want`; 1e30 for what is no number.
template <class Got, class Want>
double relative_error(const Got* got, const Want* want, std::size_t count) {
  double largest = 1e-30, worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto mine = static_cast<double>(got[i]);
    const auto expected = static_cast<double>(want[i]);
    largest = std::max(largest, std::abs(expected));
    worst = std::max(worst, std::isfinite(mine) ? std::abs(mine - expected) : 1e30);
  }
  return worst / largest;
}

/// What of that rounding explains in sums of so many terms, or in a few operations (0). Integers are equal.
/// @param digits of the type's mantissa: 24 of float, 53 of double, 0 of an integer
inline double rounding_bound(int digits, int terms) {
  const double unit = digits == 24 ? 1e-7 : digits == 53 ? 2e-16 : 0;
  if (terms <= 0) return digits == 24 ? 1e-5 : digits == 53 ? 1e-13 : 0;
  return unit * (20 + 4 * std::sqrt(static_cast<double>(terms)));
}

/// Of the type T.
template <class T>
double rounding_bound_of(int terms) {
  return rounding_bound(std::is_floating_point_v<T> ? std::numeric_limits<T>::digits : 0, terms);
}

}  // namespace bench
