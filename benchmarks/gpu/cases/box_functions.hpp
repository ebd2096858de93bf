// The prelude's functions for the device's copy engine beside their models on the host: boxes of one to five dimensions,
// swizzled and not, partly outside of their tensor, copied and stored; phases that follow each other; elections; warps with
// roles, which change registers and have barriers of their own.
#pragma once

#include <vector>

#include "../conformance.hpp"

namespace gpu_conformance {

/// Entries as those of `all`, for sm_90a alone.
std::vector<entry> box_functions();

}  // namespace gpu_conformance
