// A function on this machine's GPU: code from the database, or made here, and calls of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/database/database.hpp>

namespace tilewright::search {

struct device_options {
  std::string database = {};  // file; empty: the user's one, ":memory:": none
  /// An open database in the place of that file.
  std::shared_ptr<search::database> own_database = {};
  double seconds = 0;  // of tuning where no schedule is stored; 0: the default schedule runs
  std::uint64_t seed = 42;
};

/// A function with literal extents and dense row-major parameters, compiled for the first device that
/// this process may use. Any number of threads may call it. Its context is the primary one, which
/// CUDA's runtime and PyTorch share.
class device_kernel {
 public:
  /// Takes the chosen schedule of the database, with its code where that is stored; else tunes; else
  /// takes the default schedule.
  /// @throws build_error when there is no GPU, or nothing can be compiled for it
  /// @throws argument_error when an extent is open
  explicit device_kernel(const ir::function& f, const device_options& options = {});
  ~device_kernel();
  device_kernel(device_kernel&&) noexcept;
  device_kernel& operator=(device_kernel&&) noexcept;

  /// Starts the kernels on a stream (CUstream and cudaStream_t are the same) and returns at once.
  /// The first call on a stream allocates its workspace where there is one; later ones allocate
  /// nothing, and may be captured in a graph.
  ///
  /// Requires: 1. an argument for each parameter: for a buffer an address on the device, for a scalar
  /// the address of its value on the host; 2. memory of this device; 3. aligned to 16 bytes; 4. the
  /// process that made it, not a forked child; 5. indices among the arguments are in bounds: those on
  /// a device are not looked at.
  /// @throws argument_error with the number and the parameter
  /// @throws build_error when the driver refuses: another context's stream, a lost device
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

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::search
