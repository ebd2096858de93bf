#pragma once

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/impl/backend/cuda/examination.hpp>
#include <tilewright/impl/backend/cuda/library_names.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::cuda {

TILEWRIGHT_INLINE const availability& available() {
  namespace d = backend::cuda::detail;
  static const availability answer = d::examine(d::nvrtc_names(), d::driver_names());
  return answer;
}

TILEWRIGHT_INLINE std::optional<named_device> find_device(std::string_view name) {
  const bool named = support::contains(target::known_gpu_names(), name);
  if (!named && name != "cuda") return std::nullopt;
  const availability& here = available();
  if (!here) return named_device{target::named_gpu(named ? name : "sm_90a"), here.reason};
  const backend::cuda::device device;
  named_device out{named ? target::named_gpu(name) : device.description(), {}};
  if (out.gpu.runs_on(device.compute_capability()))
    out.gpu.model = device.name();
  else
    out.missing = "code for " + std::string(name) + " does not run on " + device.name();
  return out;
}

TILEWRIGHT_INLINE std::string toolchain() {
  std::string out;
  try {
    out = "NVRTC " + backend::cuda::nvrtc_version();
  } catch (const build_error&) {  // code that is stored runs without it
  }
  try {
    int version = 0;  // 1000 * major + 10 * minor
    if (backend::cuda::driver().DriverGetVersion(&version) == backend::cuda::driver_success)
      out += (out.empty() ? "driver " : ", driver ") + backend::cuda::detail::version_text(version);
  } catch (const build_error&) {  // code is made without it
  }
  return out;
}

}  // namespace tilewright::cuda
