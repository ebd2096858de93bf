// Windows over images: what the attributes of convolutions and poolings say in numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tilewright/model/node_view.hpp>

namespace tilewright::network {

/// A window in each spatial dimension, outermost first.
struct window_spec {
  std::vector<std::int64_t> window, stride, dilation;
  std::vector<std::int64_t> begin, end;  // padding before and after the image
  std::vector<std::int64_t> output;      // extents of the result

  std::size_t rank() const { return window.size(); }
  bool is_padded() const {
    for (std::size_t d = 0; d < rank(); ++d)
      if (begin[d] != 0 || end[d] != 0) return true;
    return false;
  }
};

/// True when channels stand last in the image and in the filter (attribute `channels_last`, which
/// the pass of that name sets).
inline bool is_channels_last(const node& n) { return n.integer("channels_last", 0) != 0; }
/// Position of the channel in an image of a rank.
inline std::size_t channel_dim(const node& n, std::size_t rank) {
  return is_channels_last(n) ? rank - 1 : 1;
}
/// Position of the first spatial dimension.
inline std::size_t space_dim(const node& n) { return is_channels_last(n) ? 1 : 2; }

/// An attribute with a positive number for each spatial dimension, 1 where it is not given.
/// @throws argument_error when it has another length, or a number is not positive
std::vector<std::int64_t> positive_list(const node_view& n, const char* name, std::size_t length);

/// The window of a node over the image that is its input 0, with `auto_pad` and `ceil_mode`.
/// @param window extents of the window
/// @throws argument_error when an attribute has the wrong length, or no window fits
window_spec window_of(const node_view& n, std::vector<std::int64_t> window);

}  // namespace tilewright::network
