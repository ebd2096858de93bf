// Whether a device's tensor cores multiply for groups of four warps.
#pragma once

#include <tilewright/target/gpu.hpp>

namespace tilewright::target {

/// wgmma belongs to sm_90a alone: neither to sm_90, which later devices run, nor to these.
inline bool multiplies_in_groups(const gpu& device) { return device.architecture == "sm_90a"; }

}  // namespace tilewright::target
