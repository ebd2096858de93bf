// The context in which other libraries work: that of the first device which the driver shares out.
#pragma once

#include <string>

#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/support/error.hpp>

namespace gpu_peers {

namespace cu = tilewright::backend::cuda;

/// Makes it the calling thread's, and leaves it there. @throws build_error
inline void enter_primary_context(const char* library) {
  static const cu::context_ref primary = [] {
    cu::context_ref out = nullptr;
    return cu::driver().DevicePrimaryCtxRetain(&out, 0) == cu::driver_success ? out : nullptr;
  }();
  if (!primary)
    throw tilewright::build_error(std::string("the primary context cannot be had for ") + library);
  cu::driver().CtxSetCurrent(primary);
}

}  // namespace gpu_peers
