// A lowered function as CUDA C++: the text of its kernels and how they are started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/dtype.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::backend::cuda {

/// One parameter of a kernel; where its value comes from is the launch argument of the same position.
struct kernel_parameter {
  std::string name;         // in the text
  dtype type = dtype::f32;  // of the elements of a buffer, or of a scalar
  bool buffer = true;
  bool written = false;  // of a buffer: the kernel stores to it
  std::int64_t elements =
      0;  // of a buffer, from its first element on; 0 where strides are not constant
};

/// One kernel of a program.
struct kernel {
  launch start;
  std::vector<kernel_parameter> parameters;  // as many as start.arguments
};

/// Kernels as text, which needs a prelude (backend/cuda/prelude.hpp) in front of it: that for devices
/// to be compiled by NVRTC, that for the host to be emulated. There is no assembly in the text.
struct program {
  std::string text;
  std::vector<kernel> kernels;  // in the order in which they are started
  std::int64_t workspace_bytes = 0;
};

/// The kernels of a function (form: pass/gpu/lower_gpu.hpp). Equal functions give equal text.
/// @throws argument_error for an operator or function that the CUDA back end does not know
/// @throws build_error when a kernel exceeds a limit of the device
program print(const ir::function& lowered, const target::gpu& device);

}  // namespace tilewright::backend::cuda
