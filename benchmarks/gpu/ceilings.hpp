// Kernels that do one thing as fast as a device can, and one that does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
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
/// tensor cores from registers; additions that memory makes, `operations` their number; nothing.
std::vector<entry> all();

/// A kernel of that name on `blocks` of `threads`, whose body reads A and writes B, both f32.
tilewright::backend::cuda::program one_kernel(const std::string& name, std::uint32_t blocks,
                                              std::uint32_t threads, const std::string& body);

}  // namespace gpu_ceilings
