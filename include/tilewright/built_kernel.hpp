// Calls of kernels that are made at run time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/dispatch/tuning_request.hpp>
#include <tilewright/expr/builder.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/model/named_argument.hpp>
#include <tilewright/search/options.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/tuned.hpp>

namespace tilewright {

/// A kernel whose parameters no C++ type knows, to call as others are:
///
///     kernel_builder b("scale");                       // expr/builder.hpp
///     ...
///     tuned op{b.build(), {.seconds = 1}};
///     op(x, y);                                        // dense arguments in the order of the parameters
///     auto layer = op.with("W", w);                    // binds a weight to a copy of w
///
/// What the compiler says about arguments of other kernels is said at the call: it requires 1) as many
/// arguments as parameters that are not bound; 2) their element types and ranks; 3) mutable arguments of
/// outputs; and what a call of any kernel requires (tuned.hpp).
template <>
class tuned<any_kernel> {
 public:
  /// @throws argument_error for options that make no sense
  tuned(const any_kernel& kernel, const tuned_options& options = {})  // NOLINT: as for others
      : tuned(kernel.info(), make_dispatcher({kernel}, options)) {}

  /// This op with a weight bound to a copy of `value`; calls leave it out.
  /// @throws argument_error where no weight that is not bound has this name, and as a call
  template <class Argument>
  requires dsl::argument_like<Argument> tuned with(const std::string& name, Argument&& value)
  const { return bound_to(name, named_argument(name, value).data); }

  /// Runs the kernel.
  /// @throws argument_error naming the parameters, build_error when no code can be made
  template <class... Argument>
  requires(dsl::argument_like<Argument>&&...) void operator()(Argument&&... arguments) const {
    const argument_list list = checked({named_argument("", arguments).data...});
    dispatcher_->call(list.erased.data());
  }
  /// What runs for these arguments, why, how fast, and where it came from. Prepares it when it did not
  /// run yet.
  template <class... Argument>
  requires(dsl::argument_like<Argument>&&...) std::string report(Argument&&... arguments)
  const {
    return dispatcher_->report(checked({named_argument("", arguments).data...}).erased.data());
  }
  /// Does what a first call does, except running the kernel on the arguments.
  template <class... Argument>
  requires(dsl::argument_like<Argument>&&...) void warm(Argument&&... arguments) const {
    dispatcher_->warm(checked({named_argument("", arguments).data...}).erased.data());
  }
  /// The same for dense arguments of the given extents, which need not exist yet.
  void warm_at(const search::extent_map& extents,
               dispatch::storage order = dispatch::storage::row_major) const {
    dispatcher_->warm(extents, order);
  }
  /// A call to tune beside others, as in the other ops.
  dispatch::tuning_request at_extents(
      const search::extent_map& extents,
      dispatch::storage order = dispatch::storage::row_major) const {
    return {dispatcher_, extents, order};
  }
  /// Ends the tuning in progress, from any thread; what was measured is kept, and runs.
  void cancel() const { dispatcher_->cancel(); }
  /// Waits for tuning in the background.
  void wait() const { dispatcher_->wait(); }

 private:
  /// Arguments of a call, and what the dispatcher takes of them.
  struct argument_list {
    std::vector<dsl::argument> given;
    std::vector<dispatch::call_argument> erased;  // [parameters]
  };

  tuned(kernel_info about, std::shared_ptr<dispatch::dispatcher> dispatcher)
      : about_(std::move(about)),
        is_bound_(about_.params.size(), false),
        dispatcher_(std::move(dispatcher)) {}

  static dispatch::call_argument erase(const dsl::argument& a) {
    const void* data = a.rank > 0 ? a.data : a.address();  // scalars may lie in the argument
    return {const_cast<void*>(data), a.extents.data(), a.strides.data()};
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw argument_error(about_.name + ": " + what);
  }
  void check(const param_info& p, const dsl::argument& a) const {
    if (a.type != p.type)
      refuse("argument " + p.name + " holds " + std::string(name(a.type)) +
             ", but the parameter needs " + std::string(name(p.type)));
    if (a.rank != p.rank())
      refuse("argument " + p.name + " has rank " + std::to_string(a.rank) +
             ", but the parameter needs " + std::to_string(p.rank()));
    if (p.written() && a.is_const)
      refuse("argument " + p.name + " is const, but the kernel writes it");
  }
  argument_list checked(std::vector<dsl::argument> given) const {
    std::size_t needed = 0;
    for (const bool bound : is_bound_) needed += !bound;
    if (given.size() != needed)
      refuse("the call has " + std::to_string(given.size()) + " arguments, and needs " +
             std::to_string(needed));
    argument_list out{std::move(given), std::vector<dispatch::call_argument>(is_bound_.size())};
    std::size_t next = 0;
    for (std::size_t k = 0; k < is_bound_.size(); ++k) {
      if (is_bound_[k]) continue;
      check(about_.params[k], out.given[next]);
      out.erased[k] = erase(out.given[next++]);
    }
    dispatcher_->fill_bound(out.erased.data());
    return out;
  }
  tuned bound_to(const std::string& name, const dsl::argument& value) const {
    for (std::size_t k = 0; k < is_bound_.size(); ++k) {
      const param_info& p = about_.params[k];
      if (p.name != name) continue;
      if (p.role != dsl::role::weight) refuse(name + " is no weight; declare it one to bind it");
      if (is_bound_[k]) refuse(name + " is bound already");
      check(p, value);
      tuned out(about_, dispatcher_->with(k, erase(value)));
      out.is_bound_ = is_bound_;
      out.is_bound_[k] = true;
      return out;
    }
    refuse("it has no parameter " + name);
  }

  kernel_info about_;
  std::vector<bool> is_bound_;  // [parameters]
  std::shared_ptr<dispatch::dispatcher> dispatcher_;
};

}  // namespace tilewright
