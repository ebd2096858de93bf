#pragma once

#include <string>

#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/impl/backend/cuda/library_names.hpp>
#include <tilewright/impl/backend/cuda/library_tables.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::cuda {
TILEWRIGHT_INLINE const nvrtc_api& nvrtc() {
  const support::fork_pass inside;
  static const nvrtc_api table = detail::open_nvrtc(detail::nvrtc_names());
  return table;
}

TILEWRIGHT_INLINE std::string nvrtc_version() {
  int major = 0, minor = 0;
  nvrtc().Version(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace tilewright::backend::cuda
