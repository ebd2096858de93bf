// Code for workloads, drawn from a space for GPUs: what is packed for a machine that has a
// GPU and no compiler.
#pragma once

#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/target/gpu.hpp>

#include "workloads.hpp"

namespace gpu_candidates {

/// Code of the default schedule of the space, then of drawn ones that are worth starting, at most `count` in all;
/// equal seeds give equal code.
/// @throws build_error when the default schedule cannot be compiled
std::vector<tilewright::backend::artifact> of(const gpu_workloads::workload& w,
                                              const tilewright::target::gpu& device, int count,
                                              const tilewright::space::design_space& space);

}  // namespace gpu_candidates
