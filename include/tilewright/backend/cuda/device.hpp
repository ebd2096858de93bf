// Kernels on a device: memory, code and launches through the driver, in the device's primary context,
// which the runtime API and other libraries share.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/driver.hpp>
#include <tilewright/config.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::backend::cuda {

/// One device of this machine. While it lives its primary context is kept; the calling thread's context
/// is the caller's again after each function.
class device {
 public:
  /// @throws build_error with the reason when there is no driver or no such device
  explicit device(int ordinal = 0);
  ~device();
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// 10 * major + minor.
  int compute_capability() const noexcept { return capability_; }
  /// What tells it from every other device, however processes number them: 32 digits of base 16.
  /// @throws build_error when the driver does not say
  std::string uuid() const;
  /// Whose code it runs, the newest that `target::named_gpu` knows.
  /// @throws build_error when it knows none
  target::gpu description() const;

  /// @name Driver calls
  /// Each throws build_error, which names the call and the driver's error, when the driver refuses.
  /// After an illegal access all of them do, until the process ends.
  /// @{
  device_pointer allocate(std::size_t bytes) const;
  void release(device_pointer at) const noexcept;
  void fill(device_pointer to, unsigned char value, std::size_t bytes) const;
  void copy_in(device_pointer to, const void* from, std::size_t bytes) const;
  void copy_out(void* to, device_pointer from, std::size_t bytes) const;
  /// Behind what was started on the stream. They return before the copy is made where the host's memory
  /// is locked, and after it elsewhere.
  void copy_in(device_pointer to, const void* from, std::size_t bytes, stream_ref stream) const;
  void copy_out(void* to, device_pointer from, std::size_t bytes, stream_ref stream) const;
  void synchronize() const;
  void synchronize(stream_ref stream) const;
  /// Why kernels here cannot use what lies at this address: memory of the host, or of another device;
  /// empty when they can.
  std::string why_unreachable(const void* at) const;
  /// Why kernels here cannot be started on this stream: it belongs to another context; empty when they
  /// can, as on null and the other default streams.
  std::string why_foreign(stream_ref stream) const;
  /// Whether a graph records what is started on the stream: nothing may be allocated or waited for then.
  bool captures(stream_ref stream) const;
  /// @}

  /// Devices that this process may use.
  /// @throws build_error when there is no driver, or it does not start
  static int count();
  /// Number of the device whose memory lies at this address; -1 for what the driver does not know.
  static int ordinal_of(const void* at);

 private:
  friend class device_code;
  friend class device_event;
  friend class device_graph;
  class current;
  void check(int result, const char* what) const;

  const driver_api& d_;
  int ordinal_ = 0;
  int capability_ = 0;
  std::string name_;
  context_ref context_ = nullptr;
};

/// Memory of a device, freed with this.
class device_memory {
 public:
  device_memory(const device& on, std::size_t bytes)
      : on_(&on), at_(bytes ? on.allocate(bytes) : 0) {}
  ~device_memory() {
    if (at_) on_->release(at_);
  }
  device_memory(device_memory&& other) noexcept : on_(other.on_), at_(other.at_) { other.at_ = 0; }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  device_pointer get() const noexcept { return at_; }
  /// The address as calls take it; null where there are no bytes.
  void* data() const noexcept { return std::bit_cast<void*>(at_); }

 private:
  const device* on_;
  device_pointer at_;
};

/// A point on the device's default stream.
class device_event {
 public:
  /// @throws build_error when the driver makes none
  explicit device_event(const device& on);
  ~device_event();
  device_event(const device_event&) = delete;
  device_event& operator=(const device_event&) = delete;

  /// Puts it behind what was started. @throws build_error
  void record();
  /// Whether the device has come by. @throws build_error for an error of what was started before
  bool done() const;
  /// Seconds on the device between another event and this one, both done. @throws build_error
  double seconds_since(const device_event& earlier) const;

 private:
  const device& on_;
  event_ref event_ = nullptr;
};

namespace detail {
class encoded_maps;
}

/// An artifact's image, loaded on a device.
class device_code {
 public:
  /// @throws build_error when the artifact is for other devices, or the driver refuses it
  device_code(const device& on, const artifact& a);
  ~device_code();
  device_code(const device_code&) = delete;
  device_code& operator=(const device_code&) = delete;

  std::int64_t workspace_bytes() const noexcept { return artifact_.workspace_bytes; }
  /// Starts the launches on the stream (null: the default one) and returns at once. `data` has one entry
  /// per parameter of the function: a buffer's address on the device, a scalar's on the host; `strides`
  /// is as in backend::call. Allocates nothing. Tensor maps are encoded when addresses are new.
  /// @throws build_error when the driver refuses a launch
  void start(void* const* data, const std::int64_t* strides, device_pointer workspace,
             stream_ref stream = nullptr) const;
  /// Seconds that the device took for `count` starts in a row.
  double time(void* const* data, const std::int64_t* strides, device_pointer workspace,
              int count) const;

 private:
  const device& on_;
  artifact artifact_;
  module_ref module_ = nullptr;
  std::vector<function_ref> functions_;
  std::unique_ptr<detail::encoded_maps> maps_;
};

}  // namespace tilewright::backend::cuda
