// From the arguments of a call to running code: checks, specializations, tuning on a miss.
//
// A *specialization* is a kernel at fixed extents and layout classes; it is what is tuned, stored
// and compiled. A *binding* is one set of extents and strides that calls came with; it names the
// specialization and what is known of the memory. A *variant* is the code that calls run now. The
// path of a call that was seen before takes no lock.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/device_dispatcher.hpp>
#include <tilewright/dispatch/signature.hpp>
#include <tilewright/dispatch/weight_set.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/search/check/shrink.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/support/owned.hpp>

namespace tilewright::dispatch {

/// What a session of a call needs.
struct tuning_task {
  search::workload what;
  search::session_options session;
  std::shared_ptr<search::database> records;
};

/// Calls a kernel with whatever arguments come. Any number of threads may call at once; each
/// specialization is tuned once, the others wait for it.
///
/// The process may fork at any time, on any thread. The fork waits until no other thread compiles a
/// kernel or uses the database: mostly below 10 ms, 100 ms for a large kernel, a few seconds for a
/// database that another process holds. The child goes on with what was tuned before, and tunes by
/// itself what its parent is tuning. A child that a callback of tuning forks has only to exit or to
/// become another program: it is in the middle of a session whose other threads it does not have.
class dispatcher {
 public:
  /// @param make the kernel at given extents; throws argument_error when it has no meaning there
  dispatcher(kernel_signature kernel, std::function<ir::function(const search::extent_map&)> make,
             tuned_options options, weight_set weights = {});
  ~dispatcher();
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;

  /// The same kernel with one parameter bound to a copy of `value`: its schedules may compute once
  /// what depends on bound parameters alone.
  /// @throws argument_error as weight_set::add
  std::shared_ptr<dispatcher> with(std::size_t parameter, const call_argument& value) const;
  /// Sets the entries of the bound parameters in the arguments of a call.
  void fill_bound(call_argument* arguments) const noexcept;

  /// Runs the kernel.
  /// It requires: 1) arguments that share a dimension agree on its extent, and static extents are
  /// met; 2) data pointers are not null (where there are elements) and aligned to their element
  /// type; 3) no output overlaps another argument, except itself exactly for elementwise kernels
  /// that say `inout`; 4) the elements of an output do not share memory; 5) elements used as
  /// indices are in bounds. Extents of zero are allowed.
  /// @throws argument_error naming the parameters, build_error when code cannot be made
  void call(const call_argument* arguments);

  /// Calls of the same kernel with arrays in a GPU's memory. Made at first use; lives as long as this.
  device_dispatcher& on_device();

  /// What runs for these arguments, why, how fast, and where it came from.
  std::string report(const call_argument* arguments);
  /// Prepares what `call` would need, without running it.
  void warm(const call_argument* arguments);
  /// The same for dense arguments of the given extents, which need not exist.
  /// @throws argument_error when a dimension has no extent
  void warm(const search::extent_map& extents, storage order);
  /// Calls `use` with dense arguments of the given extents and no data.
  /// @throws argument_error when a dimension has no extent
  void with_extents(const search::extent_map& extents, storage order,
                    const std::function<void(const call_argument*)>& use) const;
  const kernel_signature& signature() const noexcept;
  /// What tuning for these arguments is about, and how, for sessions of several kernels. Nothing is
  /// tuned or compiled; it may be used as long as the dispatcher lives.
  /// @throws argument_error when there are no elements
  tuning_task tuning(const call_argument* arguments);
  /// The first of these, which lives as long as the dispatcher.
  const search::workload& task(const call_argument* arguments);
  /// Has calls with these arguments run what is stored for them from now on, where it is better than
  /// what they ran before.
  void reload(const call_argument* arguments);
  /// Ends the tuning in progress, on devices too; what was measured is kept, and runs. Other arguments are tuned as
  /// before; `warm` goes on with what was ended.
  void cancel();
  /// Waits for tuning in the background.
  void wait();

 private:
  struct state;
  support::owned<state> state_;
};

}  // namespace tilewright::dispatch
