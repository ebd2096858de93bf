// What the libraries of a machine can do, and what is wrong where they cannot.
#pragma once

#include <string>

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/impl/backend/cuda/library_tables.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::cuda::detail {

/// "error 999 (CUDA_ERROR_UNKNOWN)".
inline std::string driver_error(const driver_api& d, int code) {
  const char* name = nullptr;
  std::string out = "error " + std::to_string(code);
  if (d.GetErrorName && d.GetErrorName(code, &name) == driver_success && name)
    out += " (" + std::string(name) + ")";
  return out;
}

/// "13.0" of 13000.
inline std::string version_text(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

/// What the libraries of these names can do.
inline tilewright::cuda::availability examine(const support::dynamic_library::spec& compiler_names,
                                              const support::dynamic_library::spec& driver_names) {
  using tilewright::cuda::state;
  driver_api d;
  try {
    d = open_driver(driver_names);
  } catch (const build_error& e) {
    return {state::no_driver, e.what()};
  }
  const int started = d.Init(0);
  if (started == driver_stub_library)
    return {
        state::stub,
        "the CUDA driver that opened is the toolkit's stub for linking, which runs nothing; "
        "take the toolkit's folder \"stubs\" out of LD_LIBRARY_PATH, or install NVIDIA's driver"};
  int devices = 0;
  if (started == driver_success && d.DeviceGetCount(&devices) != driver_success) devices = 0;
  if (started == driver_no_device || (started == driver_success && devices == 0))
    return {state::no_device,
            "the CUDA driver finds no device; look at nvidia-smi and CUDA_VISIBLE_DEVICES"};
  if (started != driver_success)
    return {state::failed, "the CUDA driver does not start: " + driver_error(d, started) +
                               "; restart it, or the machine"};
  nvrtc_api compiler;
  try {
    compiler = open_nvrtc(compiler_names);
  } catch (const build_error& e) {
    return {state::no_toolkit, e.what()};
  }
  int version = 0, major = 0, minor = 0;
  d.DriverGetVersion(&version);
  compiler.Version(&major, &minor);
  if (version / 1000 < major)  // within a major version, code of a later compiler runs
    return {state::old_driver,
            "the CUDA driver is of version " + version_text(version) + ", NVRTC is of version " +
                std::to_string(major) + "." + std::to_string(minor) +
                "; install a driver of version " + std::to_string(major) +
                ".0 or later, or set TILEWRIGHT_NVRTC to a libnvrtc of version " +
                std::to_string(version / 1000)};
  return {};
}

}  // namespace tilewright::backend::cuda::detail
