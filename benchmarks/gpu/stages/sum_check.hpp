// The check of large results by random sums (checks/freivalds.hpp), checked on a result of the device.
#pragma once

#include <string>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/device.hpp>

#include "../device_clock.hpp"

namespace gpu_sums {

/// What a case says.
struct result {
  bool fine = false;
  std::string fields;
};

/// A product (`gpu_cases::summed_product`) has the right sums, and the same with one element changed has not.
/// @param code  of the product
result on_device(const tilewright::backend::cuda::device& device,
                 const gpu_time::device_clock& clock, const tilewright::backend::artifact& code);

}  // namespace gpu_sums
