// Values on a common scale: mean 0, deviation 1.
#pragma once

#include <cmath>
#include <span>

namespace tilewright::cost::detail {

/// Mean and deviation of values; where they are all equal the deviation counts as 1.
struct standardization {
  double mean = 0, deviation = 1;

  static standardization of(std::span<const double> values) {
    standardization out;
    if (values.empty()) return out;
    const auto n = static_cast<double>(values.size());
    for (const double v : values) out.mean += v / n;
    double square = 0;
    for (const double v : values) square += (v - out.mean) * (v - out.mean) / n;
    const double deviation = std::sqrt(square);
    if (deviation > 1e-12) out.deviation = deviation;
    return out;
  }
  double operator()(double value) const { return (value - mean) / deviation; }
};

}  // namespace tilewright::cost::detail
