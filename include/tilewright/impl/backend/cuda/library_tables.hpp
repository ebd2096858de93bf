// Tables of functions filled from libraries that are opened for them.
#pragma once

#include <string>
#include <type_traits>

#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/support/dynamic_library.hpp>

namespace tilewright::backend::cuda::detail {

inline driver_api open_driver(const support::dynamic_library::spec& names) {
  support::dynamic_library opened(names);
  driver_api table;
  table.visit([&](const char* name, auto& function) {
    const std::string symbol = std::string("cu") + name;
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(opened.get(symbol.c_str()));
  });
  opened.keep_open();  // a driver cannot be unloaded
  return table;
}

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

}  // namespace tilewright::backend::cuda::detail
