// Convolutions of a network that may run by Winograd's algorithm (ops/winograd.hpp), whose kernels try it.
//
// The kernel of such a convolution has the algorithm as alternatives, with what stands in front of and
// behind the sums (border, bias, residual, activation) as parts of the same kernel, and a filter that is
// transformed once. Which of them runs is measured, as all else about a kernel is.
#pragma once

#include <cstdint>
#include <limits>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// Attribute of a Conv node: extents of tiles with which its kernel tries the algorithm.
inline constexpr const char* winograd_attribute = "winograd_tiles";

/// What decides which tiles a convolution tries.
struct winograd_limits {
  bool streams_weights = false;  // weights come from memory in each run
  /// What a result may differ by, over the root mean square of all results of its convolution: tiles whose
  /// `ops::winograd_error` is larger are not tried.
  double error = std::numeric_limits<double>::infinity();
  bool pays = true;  // false: all that are allowed, for who has the time to measure them
};

/// Names the tiles that may pay, after make_kernels:
/// ```
/// y = Conv(x, F, b)   ->   y = Conv(x, F, b) winograd_tiles=[4, 6]
/// ```
/// for each convolution that the algorithm can compute: one whose filter of 3x3 is known, with stride 1,
/// without dilation and groups, channels last, in f32 or f64. What is fused into its kernel has to carry an
/// error on without enlarging it much, as sums, products and activations do, and quotients and steps do not.
/// The most likely extent comes first, and there are at most two: what a multiplication costs beside a byte is
/// estimated here, so that a session has less to try.
void winograd(graph& g, const winograd_limits& limits = {});

/// Bytes that transformed filters take beyond the filters, with the likeliest tiles of each convolution.
std::int64_t winograd_bytes(const graph& g);

}  // namespace tilewright::network
