// What calls of a kernel cost beside the launch that they end in. Each case is the fields of a line, and
// whether results were right; each compiles one small kernel by NVRTC.
#pragma once

#include <string>

#include <tilewright/backend/cuda/device.hpp>

#include "../device_clock.hpp"

namespace gpu_calls {

namespace cu = tilewright::backend::cuda;

struct result {
  bool fine = false;  // what the kernel left is what it should leave
  std::string fields;
};

/// Seconds that the calling thread needs for a bare launch through the driver, for a call of `tuned` on arrays of the
/// device, for one of `device_kernel`; in turns, medians.
/// @throws tilewright::build_error without NVRTC
result against_launches(const cu::device& on, const gpu_time::device_clock& clock);
/// Calls that a graph records, started twice.
result in_graph(const cu::device& on, const gpu_time::device_clock& clock);
/// Free memory of the device before and after so many calls, and resident memory of the process.
result memory_after(const cu::device& on, const gpu_time::device_clock& clock, int calls);

}  // namespace gpu_calls
