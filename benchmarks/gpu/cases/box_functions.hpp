// The prelude's functions for the device's copy engine beside their models on the host: boxes of one to five dimensions,
// swizzled and not, partly outside of their tensor, copied and stored; phases that follow each other; elections.
#pragma once

#include <vector>

#include "../conformance.hpp"

namespace gpu_conformance {

/// Entries as those of `all`, for sm_90a alone.
std::vector<entry> box_functions();

}  // namespace gpu_conformance
