// What the inputs and attributes of a slice say in numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <tilewright/model/node_view.hpp>

namespace tilewright::network::detail {

/// Where a slice begins in each dimension, and its step and length.
struct slice_spec {
  std::vector<std::int64_t> start, step, length;
};

inline slice_spec slice_of(const node_view& n) {
  const shape& s = n.in(0).extents;
  const std::vector<std::int64_t> starts = n.list(1, "starts"), ends = n.list(2, "ends");
  std::vector<std::int64_t> every(starts.size());
  for (std::size_t k = 0; k < every.size(); ++k) every[k] = static_cast<std::int64_t>(k);
  const std::vector<std::int64_t> along = n.list(3, "axes", every);
  const std::vector<std::int64_t> steps =
      n.list(4, "steps", std::vector<std::int64_t>(starts.size(), 1));
  if (ends.size() != starts.size() || along.size() != starts.size() ||
      steps.size() != starts.size())
    n.fail("starts, ends, axes and steps have different lengths");
  n.dimensions(along, s.size());
  slice_spec out{std::vector<std::int64_t>(s.size(), 0), std::vector<std::int64_t>(s.size(), 1), s};
  for (std::size_t k = 0; k < along.size(); ++k) {
    const std::size_t d = n.dimension(along[k], s.size());
    const std::int64_t extent = s[d], step = steps[k];
    if (step == 0) n.fail("a step is 0");
    const std::int64_t least = step > 0 ? 0 : -1, most = step > 0 ? extent : extent - 1;
    const auto place = [&](std::int64_t p) {
      if (p < 0) p = p < -extent ? least : p + extent;
      return std::clamp(p, std::min(least, most), std::max(least, most));
    };
    const std::int64_t from = place(starts[k]), to = place(ends[k]);
    // |step| may be as large as an integer gets
    const std::int64_t span = step > 0 ? to - from : from - to;
    const std::int64_t stride = step > 0 ? step
                                : step == std::numeric_limits<std::int64_t>::min()
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : -step;
    const std::int64_t length = span <= 0 ? 0 : (span - 1) / stride + 1;
    out.start[d] = from;
    out.step[d] = length <= 1 ? 1 : step;
    out.length[d] = length;
  }
  return out;
}

}  // namespace tilewright::network::detail
