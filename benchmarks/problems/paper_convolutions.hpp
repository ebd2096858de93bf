// The convolutions among the paper's twelve workloads, in both layouts of images.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../peers/onednn_convolution.hpp"

namespace bench {

/// C1D, C2D, C3D, DEP, DIL, GRP, T2D.
struct paper_convolution {
  std::string name;  // C2D_nchw
  convolution v;
};

/// Each with channels last and with channels first; filters as `convolution` has them.
std::vector<paper_convolution> paper_convolutions();

/// Numbers of a tensor.
std::size_t image_size(const convolution& v);
std::size_t filter_size(const convolution& v);
std::size_t output_size(const convolution& v);

/// Two for each product of a filter's tap and an element of the image; taps beside the image do not
/// count.
double useful_flops(const convolution& v);

/// Some outputs in double precision.
struct sampled_outputs {
  std::vector<std::size_t> at;      // positions in memory
  std::vector<double> want, scale;  // sums of products and of their magnitudes
};
sampled_outputs reference_at(const convolution& v, const float* x, const float* f,
                             std::size_t samples);

/// Tilewright's operator on this data, tuned when it is first run.
/// @param bound the filter is bound beforehand
prepared tilewright_convolution(const paper_convolution& p, const float* x, const float* f,
                                float* y, int threads, double seconds, bool bound);

}  // namespace bench
