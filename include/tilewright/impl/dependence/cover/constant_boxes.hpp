// Boxes with constant bounds, one taken from others.
#pragma once

#include <vector>

#include <tilewright/impl/dependence/cover/footprint.hpp>

namespace tilewright::dependence::cover {

using const_box = std::vector<arith::bounds>;

/// `box` without `hole`, as boxes.
inline void subtract(const const_box& box, const const_box& hole, std::vector<const_box>& out) {
  if (disjoint(box, hole)) {
    out.push_back(box);
    return;
  }
  const_box rest = box;
  for (std::size_t d = 0; d < rest.size(); ++d) {
    if (rest[d].lo < hole[d].lo) {
      out.push_back(rest);
      out.back()[d].hi = hole[d].lo - 1;
      rest[d].lo = hole[d].lo;
    }
    if (rest[d].hi > hole[d].hi) {
      out.push_back(rest);
      out.back()[d].lo = hole[d].hi + 1;
      rest[d].hi = hole[d].hi;
    }
  }
}

/// The boxes without `hole`.
inline std::vector<const_box> without(const std::vector<const_box>& boxes, const const_box& hole) {
  std::vector<const_box> out;
  for (const const_box& box : boxes) subtract(box, hole, out);
  return out;
}

inline const_box within(const footprint& f) {
  const_box out;
  out.reserve(f.size());
  for (const span& s : f) out.push_back(s.within);
  return out;
}

}  // namespace tilewright::dependence::cover
