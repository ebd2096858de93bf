#pragma once

#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/impl/backend/cuda/library_names.hpp>
#include <tilewright/impl/backend/cuda/library_tables.hpp>
#include <tilewright/support/fork_gate.hpp>

namespace tilewright::backend::cuda {
TILEWRIGHT_INLINE const driver_api& driver() {
  const support::fork_pass inside;
  static const driver_api table = detail::open_driver(detail::driver_names());
  return table;
}

}  // namespace tilewright::backend::cuda
