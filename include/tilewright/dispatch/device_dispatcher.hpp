// From a call with arrays in a GPU's memory to running kernels: the dispatcher's other half.
//
// For each set of extents and each device there is a device_kernel, found, compiled or tuned at the first
// call, as the options say. The path of a call that was seen before allocates nothing and waits for nothing.
#pragma once

#include <functional>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/dispatch/weight_set.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/check/shrink.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/support/owned.hpp>

namespace tilewright::dispatch {

/// Calls a kernel on the device that its arguments lie on. Any number of threads may call at once; each
/// set of extents is tuned once on a device, the others wait for it.
class device_dispatcher {
 public:
  /// As `dispatcher`; bound weights are copied to each device once. The options have to outlive it.
  device_dispatcher(kernel_signature kernel,
                    std::function<ir::function(const search::extent_map&)> make,
                    const tuned_options& options, const weight_set& weights);
  ~device_dispatcher();
  device_dispatcher(const device_dispatcher&) = delete;
  device_dispatcher& operator=(const device_dispatcher&) = delete;

  /// Starts the kernel on a stream and returns. Data are addresses on a device, those of scalars and of
  /// bound weights addresses on the host.
  ///
  /// It requires, beside what `dispatcher::call` and `device_kernel` do: 1) arrays are dense, in any order
  /// of their dimensions; 2) the first call at these extents is not recorded by a graph.
  /// @throws argument_error naming the parameter and what to do
  /// @throws build_error when there is no GPU, no code can be made, or the driver refuses
  void call(const call_argument* arguments, void* stream);
  /// Does what a first call does, except starting the kernel.
  void warm(const call_argument* arguments);
  /// What runs for these arguments, and where it came from. Prepares it when it did not run yet.
  std::string report(const call_argument* arguments);

  /// Ends the tuning in progress; what was measured is kept, and runs.
  void cancel();
  /// Waits for tuning in the background.
  void wait();

 private:
  struct state;
  support::owned<state> state_;
};

}  // namespace tilewright::dispatch
