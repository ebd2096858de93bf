// Tables of functions filled from libraries that are opened for them.
#pragma once

#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/backend/cuda/nvrtc.hpp>
#include <tilewright/support/dynamic_library.hpp>

namespace tilewright::backend::cuda::detail {

inline driver_api open_driver(const support::dynamic_library::spec& names) {
  support::dynamic_library opened(names);
  driver_api table;
  opened.fill(table, "cu");
  opened.keep_open();  // a driver cannot be unloaded
  return table;
}

inline nvrtc_api open_nvrtc(const support::dynamic_library::spec& names) {
  support::dynamic_library opened(names);
  nvrtc_api table;
  opened.fill(table, "nvrtc");
  opened.keep_open();  // it keeps threads and exit handlers of its own
  return table;
}

}  // namespace tilewright::backend::cuda::detail
