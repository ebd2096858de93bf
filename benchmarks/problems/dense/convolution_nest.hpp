// Plain nests of convolutions, and what of their work lies in the data.
#pragma once

#include <string>

#include "../../peers/onednn_convolution.hpp"

namespace bench::dense {

/// The loops as a careful programmer writes them first: taps beside the image are skipped, and the innermost loop runs
/// along memory. Arguments are X, F and Y; with `scaled` also scale and shift, which a maximum with 0 follows.
std::string convolution_nest(const convolution& v, bool depthwise, bool scaled);

/// Two for each product of a filter's tap and an element of the image; taps beside the image do not
/// count.
double useful_flops(const convolution& v);

}  // namespace bench::dense
