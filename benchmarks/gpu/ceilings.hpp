// Kernels that do one thing as fast as a device can, and one that does nothing.
#pragma once

#include <string>
#include <vector>

#include <tilewright/backend/cuda/program.hpp>

namespace gpu_ceilings {

/// One kernel of two parameters, input and output, f32.
struct entry {
  std::string name;
  tilewright::backend::cuda::program program;
  std::size_t input_bytes = 0, output_bytes = 0;
  double operations = 0;  // of one run
  double bytes = 0;       // of one run, read and written
};

/// A copy of 512 MB in 16-byte accesses; multiply-adds of f32 from registers; products of f16 on
/// tensor cores from registers; nothing.
std::vector<entry> all();

}  // namespace gpu_ceilings
