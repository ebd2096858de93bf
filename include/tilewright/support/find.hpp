// The first element that a predicate holds for, as a plain loop: std::find_if is written out four times over where it is
// called, once for each step of its unrolled loop.
#pragma once

#include <iterator>

namespace tilewright::support {

/// Where in the range the first element stands for which `f` holds; the end where there is none.
template <class Range, class F>
constexpr auto find(Range&& range, F&& f) {
  auto at = std::begin(range);
  const auto end = std::end(range);
  while (at != end && !f(*at)) ++at;
  return at;
}

}  // namespace tilewright::support
