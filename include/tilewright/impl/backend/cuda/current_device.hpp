// Which device a thread's calls of the driver mean.
#pragma once

#include <tilewright/backend/cuda/device.hpp>

namespace tilewright::backend::cuda {

/// The device's context on this thread while it lives.
class device::current {
 public:
  explicit current(const device& on) : d_(on.d_) {
    d_.CtxGetCurrent(&before_);
    if (before_ != on.context_) on.check(d_.CtxSetCurrent(on.context_), "cuCtxSetCurrent");
  }
  ~current() { d_.CtxSetCurrent(before_); }
  current(const current&) = delete;
  current& operator=(const current&) = delete;

 private:
  const driver_api& d_;
  context_ref before_ = nullptr;
};

}  // namespace tilewright::backend::cuda
