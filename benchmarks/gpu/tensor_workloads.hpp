// Products on tensor cores, and the fused dense layer of the MetaSchedule paper with one rule after
// the other: what stage `tensor` of the GPU program times.
#pragma once

#include <string>
#include <vector>

#include <tilewright/space/modules/use_tensor_core.hpp>
#include <tilewright/space/space.hpp>

#include "workloads.hpp"

namespace gpu_workloads {

/// A computation, and the space that its candidates come from.
struct tensor_workload {
  workload what;
  tilewright::space::design_space space;
};

/// Products of f16, bf16, tf32 and bytes at several sizes; then figure 10a of the paper: its fused dense
/// naive, + tiling, + inline, + unroll, + tensor cores.
std::vector<tensor_workload> tensor_workloads();

/// That rule alone: what is left goes into its blocks, or gets threads.
tilewright::space::design_space tensor_space(const tilewright::space::use_tensor_core& rule);

/// Products of f32 on tensor cores, their factors rounded to tf32; copied in the background, two steps ahead.
tilewright::space::design_space tf32_space(int warp_size = 32);

/// Products of f16, bf16 and bytes, small enough to be emulated; some extents are no multiples of 16.
std::vector<workload> small_tensor_products();

}  // namespace gpu_workloads
