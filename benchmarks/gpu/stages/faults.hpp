// Kernels that misbehave: what a process must survive by being replaced.
#pragma once

#include <string>
#include <vector>

#include <tilewright/backend/cuda/program.hpp>

namespace gpu_faults {

/// One kernel of two parameters, input and output, f32, which lie on the device.
struct entry {
  std::string name;
  tilewright::backend::cuda::program program;
};

/// An access to an illegal address, and a loop without end.
std::vector<entry> all();

}  // namespace gpu_faults
