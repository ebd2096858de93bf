// Convolutions with windows of 3x3 by Winograd's algorithm: fewer multiplications for more additions.
//
// An image is cut into tiles of m x m results. Each tile reads (m + 2) x (m + 2) elements, which become
// as many sums of them; products of these with sums of the filter, which are made once, when the graph
// is rewritten, are added up over the channels, and what comes out becomes the m x m results. That is
// (m + 2)^2 multiplications for m^2 results, where the convolution has 9 m^2.
//
// The price is rounding. In every partial sum an element of f32 is off by at most u = 2^-24 of the sum
// of absolute values that made it; carried through, a result of C channels is off by at most
// (C + 4 m + 12) u times what the algorithm computes with all numbers and all factors made positive.
// For elements of one size that is 7.2, 84 and 510 times the bound of the convolution for m = 2, 4 and
// 6. Measured on 256 channels against f64, relative to the largest result: 0.5e-6, 2.6e-6 and 1.1e-5,
// where the convolution in order has 1.4e-6.
//
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/model/graph.hpp>

namespace tilewright::network {

/// Extent m of the tiles of a convolution, by the name of the value that it makes.
using tile_choice = std::map<std::string, std::int64_t, std::less<>>;

/// Transformed filters by the elements they come from and the extent of their tiles, so that graphs of
/// one network share them.
using transformed_filters = std::map<std::pair<const void*, std::int64_t>, constant>;

/// Rewrites the named convolutions, after channels_last:
/// ```
/// y = Conv(x, F, b)
///   ->   v = WinogradInput(x); p = MatMul(Reshape(v), F'); y = WinogradOutput(Reshape(p), b)
/// ```
/// Those that are no candidates (see `winograd_tiles`) and other names stay.
/// @param filters known ones are taken, others are added
void winograd(graph& g, const tile_choice& tiles, transformed_filters& filters);

/// Extents of tiles that may pay for each convolution that the algorithm can compute: one whose filter of
/// 3x3 is known, with stride 1, without dilation and groups, in f32 or f64, channels last. The most
/// likely one comes first, and there are at most two: what a multiplication costs beside a byte is
/// estimated here, and measured by whoever chooses.
/// @param streams_weights weights come from memory in each run
std::map<std::string, std::vector<std::int64_t>, std::less<>> winograd_tiles(const graph& g,
                                                                             bool streams_weights);

struct operator_definition;
/// The family of operators that the rewriting makes (model/operators.hpp).
void add_winograd(std::vector<operator_definition>& to);

}  // namespace tilewright::network
