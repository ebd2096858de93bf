#pragma once

#include <chrono>

#include <tilewright/expr/formats/converted_matrix.hpp>

namespace tilewright::detail {

TILEWRIGHT_INLINE double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tilewright::detail
