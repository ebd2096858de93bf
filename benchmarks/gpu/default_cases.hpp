// Default schedules on small extents: what lowering makes of the default space, checked on a device.
#pragma once

#include <string>
#include <vector>

#include <tilewright/target/gpu.hpp>

#include "corpus.hpp"

namespace gpu_defaults {

/// The small workloads of both stages, each named "default_" and its name, without schedules.
std::vector<gpu_corpus::entry> cases();
/// The schedule that runs unmeasured on a device.
tilewright::ir::function scheduled(const gpu_corpus::entry& e,
                                   const tilewright::target::gpu& device);

}  // namespace gpu_defaults
