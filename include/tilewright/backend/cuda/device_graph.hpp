// Work on a device that is recorded once and started as a whole, without the host between its kernels.
#pragma once

#include <functional>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/config.hpp>

namespace tilewright::backend::cuda {

/// A graph of what was started while it was recorded. What its kernels use has to live as long.
class device_graph {
 public:
  /// Records what `starts` starts on the stream that it is handed; nothing of it runs.
  /// @throws build_error when something in it cannot be recorded, and what `starts` throws
  device_graph(const device& on, const std::function<void(stream_ref)>& starts);
  ~device_graph();
  device_graph(const device_graph&) = delete;
  device_graph& operator=(const device_graph&) = delete;

  /// Starts all of it, behind what was started on the stream. @throws build_error
  void start(stream_ref stream = nullptr) const;

 private:
  const device& on_;
  graph_ref graph_ = nullptr;
  graph_exec_ref ready_ = nullptr;
};

}  // namespace tilewright::backend::cuda
