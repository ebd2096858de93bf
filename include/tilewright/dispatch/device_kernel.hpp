// A function on this machine's GPU: code from the database, or made here, and calls of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/pattern_check.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/space.hpp>

namespace tilewright::dispatch {

struct device_options {
  std::string database = {};  // file; empty: the user's one, ":memory:": none
  /// An open database in the place of that file.
  std::shared_ptr<search::database> own_database = {};
  double seconds = 0;  // of tuning where no schedule is stored; 0: the default schedule runs
  std::uint64_t seed = 42;
  int device = 0;                  // its number among those that this process may use
  space::design_space space = {};  // empty: the default one of the device
  /// How it is tuned, instead of `seconds` and `seed`; null: as these say.
  std::function<search::session_options(const search::workload&)> session = {};
  bool stored_only = false;  // throws where no schedule is stored
  /// When elements that are used as indices are copied to the host and looked at: `once`, when their
  /// address is new. The call waits for the stream then, and cannot be captured.
  pattern_check indices = pattern_check::once;
};

/// A function with literal extents and dense row-major parameters, compiled for a device. Any number of threads may call it. Its context is the primary one, which
/// CUDA's runtime and PyTorch share.
class device_kernel {
 public:
  /// Takes the chosen schedule of the database, with its code where that is stored; else tunes; else
  /// takes the default schedule.
  /// @throws build_error when there is no GPU, or nothing can be compiled for it
  /// @throws argument_error when an extent is open, or nothing is stored and nothing else wanted
  explicit device_kernel(const ir::function& f, const device_options& options = {});
  ~device_kernel();
  device_kernel(device_kernel&&) noexcept;
  device_kernel& operator=(device_kernel&&) noexcept;

  /// Starts the kernels on a stream (CUstream and cudaStream_t are the same) and returns at once.
  /// The first call on a stream allocates its workspace where there is one; later ones allocate
  /// nothing, and may be captured in a graph.
  ///
  /// Requires: 1. there is an argument for each parameter: for a buffer an address on the device, for a scalar the
  /// address of its value on the host; 2. buffers lie in memory of this device; 3. addresses are aligned to 16 bytes;
  /// 4. the process made the kernel, and is no forked child; 5. indices among the arguments are in bounds, which is
  /// looked at as the options say; 6. the stream is of the device's primary context; 7. while a graph records the
  /// stream, the call has no workspace to allocate and no indices to look at.
  /// @throws argument_error with the number and the parameter
  /// @throws build_error when the driver refuses: too little memory, a lost device
  void operator()(std::span<void* const> arguments, void* stream = nullptr) const;

  /// The same for arrays in the host's memory: copies them to the device, waits, and copies what was
  /// written back. The first call allocates their copies, which stay.
  void on_host(std::span<void* const> arguments) const;

  /// Waits for all that was started on the device.
  void synchronize() const;

  /// The schedule, as printed.
  const std::string& trace() const noexcept;
  /// Where the code is from: "stored code, measured ...", "the default schedule", ...
  const std::string& origin() const noexcept;
  /// Whether measuring chose the schedule, here or before.
  bool measured() const noexcept;
  /// What the device calls itself.
  const std::string& device_name() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::dispatch
