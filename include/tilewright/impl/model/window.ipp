#pragma once

#include <algorithm>

#include <tilewright/model/window.hpp>

namespace tilewright::network {
TILEWRIGHT_INLINE std::vector<std::int64_t> positive_list(const node_view& n, const char* name,
                                                          std::size_t length) {
  std::vector<std::int64_t> out =
      n.what().integers(name, std::vector<std::int64_t>(length, std::int64_t{1}));
  if (out.size() != length)
    n.fail("attribute " + std::string(name) + " has " + std::to_string(out.size()) +
           " numbers; the image has " + std::to_string(length) + " spatial dimensions");
  for (const std::int64_t x : out)
    if (x < 1 || x > (1 << 20)) n.fail("attribute " + std::string(name) + " has to be positive");
  return out;
}

TILEWRIGHT_INLINE window_spec window_of(const node_view& n, std::vector<std::int64_t> window) {
  const shape& image = n.in(0).extents;
  if (image.size() < 3) n.fail("its input has to be an image: N, C, space...");
  const std::size_t rank = image.size() - 2, first = space_dim(n.what());
  if (window.size() != rank)
    n.fail("its window has " + std::to_string(window.size()) + " dimensions; the image has " +
           std::to_string(rank) + " spatial ones");
  window_spec w;
  w.window = std::move(window);
  w.stride = positive_list(n, "strides", rank);
  w.dilation = positive_list(n, "dilations", rank);
  const std::string how = n.what().text("auto_pad", "NOTSET");
  const bool same = how == "SAME_UPPER" || how == "SAME_LOWER";
  if (!same && how != "NOTSET" && how != "VALID" && how != "")
    n.fail("auto_pad is \"" + how + "\"; write NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  std::vector<std::int64_t> pads(2 * rank, 0);
  if (how == "NOTSET" || how.empty()) pads = n.what().integers("pads", pads);
  if (pads.size() != 2 * rank)
    n.fail("attribute pads has " + std::to_string(pads.size()) + " numbers, and needs " +
           std::to_string(2 * rank));
  const bool round_up = n.what().integer("ceil_mode", 0) != 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = image[first + d];
    if (w.window[d] < 1 || w.window[d] > (1 << 20)) n.fail("its window has to be positive");
    const std::int64_t span = w.dilation[d] * (w.window[d] - 1) + 1;
    std::int64_t before = pads[d], after = pads[rank + d];
    if (before < 0 || after < 0 || before > (1 << 20) || after > (1 << 20))
      n.fail("attribute pads has to be 0 or more");
    if (same) {
      const std::int64_t out = (extent + w.stride[d] - 1) / w.stride[d];
      const std::int64_t all = std::max<std::int64_t>(0, (out - 1) * w.stride[d] + span - extent);
      before = how == "SAME_UPPER" ? all / 2 : all - all / 2;
      after = all - before;
    }
    const std::int64_t room = extent + before + after - span;
    if (room < 0) n.fail("its window is larger than the image with its border");
    std::int64_t out = room / w.stride[d] + 1;
    if (round_up && room % w.stride[d] != 0) {
      // a window that would begin behind the image is none
      if (out * w.stride[d] < extent + before) ++out;
    }
    w.begin.push_back(before);
    w.end.push_back(after);
    w.output.push_back(out);
  }
  return w;
}

}  // namespace tilewright::network
