// Which device a thread's calls of the driver mean.
#pragma once

#include <tilewright/backend/cuda/device.hpp>

namespace tilewright::backend::cuda {

/// The device's context on this thread while it lives.
class device::current {
 public:
  explicit current(const device& on) : d_(on.d_) {
    d_.CtxGetCurrent(&before_);
    changes_ = before_ != on.context_;
    if (changes_) on.check(d_.CtxSetCurrent(on.context_), "cuCtxSetCurrent");
  }
  ~current() {
    if (changes_) d_.CtxSetCurrent(before_);
  }
  current(const current&) = delete;
  current& operator=(const current&) = delete;

 private:
  const driver_api& d_;
  context_ref before_ = nullptr;
  bool changes_ = false;  // not where it is current already, as beside CUDA's runtime
};

}  // namespace tilewright::backend::cuda
