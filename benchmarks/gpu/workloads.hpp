// The twelve workloads of the MetaSchedule paper, matrix products and kernels bound by memory, as
// programs without a schedule: what the default space for GPUs is tested and timed on.
#pragma once

#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

#include "peers/cublas.hpp"
#include "peers/cudnn.hpp"

namespace gpu_workloads {

/// One computation in f32.
struct workload {
  std::string name;
  tilewright::ir::function function;
  double operations = 0;              // of one run, floating point
  double bytes = 0;                   // of one run, all parameters once
  int terms = 1;                      // of the longest reduction
  double rounding = 0;                // of factors, relative, where candidates round them
  gpu_cublas::shape peer = {};        // the product that it is; none where it is no product
  gpu_cudnn::shape convolution = {};  // that it is, of its parameters in their order; or none
};

/// At the paper's sizes, products of 1024 to 8192, arrays of 256 MB.
std::vector<workload> full();
/// The same kernels, small enough to be emulated; their extents divide badly.
std::vector<workload> small();

}  // namespace gpu_workloads
