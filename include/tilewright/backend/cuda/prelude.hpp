// What the text of kernels is written in: types and functions that exist twice, for devices in CUDA
// C++ with PTX, and for the host as plain C++ that tells the emulator what happens.
//
// Neither version includes anything: a header would cost more time than the kernel, and would have to
// be there on the user's machine. All assembly stands in the device's version.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/config.hpp>

namespace tilewright::backend::cuda {

/// What stands in front of a program's text for NVRTC: what every program needs, and the parts that
/// this one uses.
std::string device_prelude(std::string_view text);
/// The same for a host compiler. What it calls in the emulator is `host_runtime`
/// (impl/backend/cuda/emulator.hpp).
std::string host_prelude(std::string_view text);

}  // namespace tilewright::backend::cuda
