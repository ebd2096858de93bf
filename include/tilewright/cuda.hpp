// Kernels on NVIDIA GPUs: what this machine has, and functions that run there.
#pragma once

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/search/device_kernel.hpp>
#include <tilewright/space/gpu.hpp>

namespace tilewright::cuda {

using search::device_kernel, search::device_options;

}  // namespace tilewright::cuda
