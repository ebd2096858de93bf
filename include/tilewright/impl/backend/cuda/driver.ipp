#pragma once

#include <string>
#include <type_traits>

#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/impl/backend/cuda/library_names.ipp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::cuda {
namespace detail {

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

}  // namespace detail

TILEWRIGHT_INLINE const driver_api& driver() {
  const support::fork_pass inside;
  static const driver_api table = detail::open_driver(detail::driver_names());
  return table;
}

}  // namespace tilewright::backend::cuda
