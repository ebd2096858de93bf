// How far a result is from what it has to be.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <tilewright/ir/interpret/evaluate.hpp>

namespace gpu_results {

/// Distance beyond what rounding may do, relative to 1 + |value|; infinite for what is no number.
inline double off_by(double got, const tilewright::ir::point_value& right) {
  const double gap = std::abs(got - right.value);
  if (std::isnan(gap)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, gap - right.error) / (1 + std::abs(right.value));
}

}  // namespace gpu_results
