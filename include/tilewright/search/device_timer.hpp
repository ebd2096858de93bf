// Runs and times kernels on a GPU, on copies of arguments that lie in memory of the host.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/config.hpp>
#include <tilewright/search/check/comparison_kernel.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/search/measurement/measurement.hpp>

namespace tilewright::search {

/// One set of sealed arguments on the first device that this process may use. In the device's memory
/// each argument lies between canaries: bytes that no kernel may change. Not thread-safe.
///
/// A kernel that does not end by its deadline keeps the device, and after an illegal access the
/// driver refuses everything: then `usable` is false, and the process has to end. That is why
/// candidates run in a worker (search/measurement/worker.hpp).
///
/// Timers of one device, in any process of this machine, take turns: each waits until no other one
/// measures or runs. Deadlines count from then on.
class device_timer {
 public:
  /// The arguments must outlive the timer.
  /// @throws build_error when there is no GPU, or not enough memory on it
  explicit device_timer(argument_memory& arguments);
  ~device_timer();
  device_timer(const device_timer&) = delete;
  device_timer& operator=(const device_timer&) = delete;

  /// Times calls, of which each starts all launches of the artifact; many in a row where they are
  /// short. What calls write stays on the device.
  measurement measure(const backend::artifact& code, const measure_options& options);
  /// One call on fresh outputs, untimed, whose outputs are copied back. // deadline: s
  measurement run(const backend::artifact& code, double deadline);

  /// From now on `run_compared` compares outputs with those that the host's memory holds now.
  /// @param all one for each argument that calls write
  /// @param shown pieces of outputs that are copied back all the same
  /// @throws build_error when the device has not enough memory, or when a comparison is of no use: it does not find
  /// the expected elements equal to themselves, or finds fresh outputs equal to them
  void expect(const std::vector<output_comparison>& all, std::vector<argument_piece> shown);
  /// As `run`; but outputs that are as expected stay on the device, besides what is to be shown of them.
  /// @param as_expected whether they did
  measurement run_compared(const backend::artifact& code, double deadline, bool& as_expected);

  bool usable() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tilewright::search
