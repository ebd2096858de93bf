// Kernels on NVIDIA GPUs: what this machine has, and functions that run there.
#pragma once

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/device_buffer.hpp>
#include <tilewright/dispatch/device_kernel.hpp>
#include <tilewright/expr/device_array.hpp>
#include <tilewright/space/gpu.hpp>

namespace tilewright::cuda {

using dispatch::device_kernel, dispatch::device_options;
using tilewright::device_array, tilewright::device_buffer, tilewright::on_device;

}  // namespace tilewright::cuda
