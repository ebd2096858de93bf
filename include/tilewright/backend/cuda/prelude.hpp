// What the text of kernels is written in: types and functions that exist twice, for devices in CUDA
// C++ with PTX, and for the host as plain C++ that tells the emulator what happens.
//
// Neither version includes anything: a header would cost more time than the kernel, and would have to
// be there on the user's machine. All assembly stands in the device's version.
#pragma once

#include <string_view>

#include <tilewright/config.hpp>

namespace tilewright::backend::cuda {

/// In front of a program's text for NVRTC.
std::string_view device_prelude();
/// In front of a program's text for a host compiler. The functions that it declares and does not
/// define are those of `host_runtime` (impl/backend/cuda/emulator.hpp).
std::string_view host_prelude();
/// Behind either: what both have in common.
std::string_view common_prelude();

}  // namespace tilewright::backend::cuda
