#pragma once

#include <exception>

#include <tilewright/backend/cuda/device_graph.hpp>
#include <tilewright/impl/backend/cuda/current_device.hpp>

namespace tilewright::backend::cuda {

TILEWRIGHT_INLINE device_graph::device_graph(const device& on,
                                             const std::function<void(stream_ref)>& starts)
    : on_(on) {
  const device::current here(on);
  const driver_api& d = on.d_;
  stream_ref stream = nullptr;
  on.check(d.StreamCreate(&stream, stream_non_blocking), "cuStreamCreate");
  std::exception_ptr failed;
  int result = d.StreamBeginCapture(stream, capture_relaxed);
  if (result == driver_success) {
    try {
      starts(stream);
    } catch (...) {
      failed = std::current_exception();
    }
    result = d.StreamEndCapture(stream, &graph_);
    if (result == driver_success && !failed)
      result = d.GraphInstantiateWithFlags(&ready_, graph_, 0);
  }
  d.StreamDestroy(stream);
  if (!failed && result == driver_success) return;
  if (graph_) d.GraphDestroy(graph_);
  if (failed) std::rethrow_exception(failed);
  on.check(result, "the recording of a graph");
}

TILEWRIGHT_INLINE device_graph::~device_graph() {
  on_.d_.GraphExecDestroy(ready_);
  on_.d_.GraphDestroy(graph_);
}

TILEWRIGHT_INLINE void device_graph::start(stream_ref stream) const {
  const device::current here(on_);
  on_.check(on_.d_.GraphLaunch(ready_, stream), "cuGraphLaunch");
}

}  // namespace tilewright::backend::cuda
