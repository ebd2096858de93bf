#pragma once

#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/impl/backend/cuda/examination.hpp>
#include <tilewright/impl/backend/cuda/library_names.ipp>

namespace tilewright::cuda {

TILEWRIGHT_INLINE const availability& available() {
  namespace d = backend::cuda::detail;
  static const availability answer = d::examine(d::nvrtc_names(), d::driver_names());
  return answer;
}

}  // namespace tilewright::cuda
