#pragma once

#include <string>
#include <type_traits>

#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/impl/backend/cuda/library_names.ipp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::cuda {
namespace detail {

inline nvrtc_api open_nvrtc(const support::dynamic_library::spec& names) {
  support::dynamic_library opened(names);
  nvrtc_api table;
  table.visit([&](const char* name, auto& function, bool optional) {
    const std::string symbol = std::string("nvrtc") + name;
    void* const address = optional ? opened.find(symbol.c_str()) : opened.get(symbol.c_str());
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  });
  opened.keep_open();  // it keeps threads and exit handlers of its own
  return table;
}

}  // namespace detail

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
