// The call: a kernel that finds a fast implementation of itself.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/dispatch/tune_jointly.hpp>
#include <tilewright/dispatch/tune_together.hpp>
#include <tilewright/dispatch/tuning_request.hpp>
#include <tilewright/expr/alternatives.hpp>
#include <tilewright/expr/argument.hpp>
#include <tilewright/expr/binding.hpp>
#include <tilewright/expr/device_array.hpp>
#include <tilewright/expr/kernel.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/model/format_choice.hpp>
#include <tilewright/search/options.hpp>

namespace tilewright {

using dispatch::storage;
using dispatch::tune_jointly;
using dispatch::tune_together;

/// A kernel to call:
///
///     tuned op{matmul_relu<float>, {.seconds = 1}};
///     op(a, b, c);                       // the first call at these extents tunes
///     op(a, b, c);                       // later ones look up and call
///     std::cout << op.report(a, b, c);
///
/// Arguments are Eigen objects with storage, spans, mdspans, vectors, arrays, `view(pointer,
/// {extents}, {strides})` and scalars, in the order of the kernel's parameters; results do not
/// depend on their layout, and no copy is made. A parameter with a compressed dimension takes an
/// `Eigen::SparseMatrix<T, Eigen::RowMajor>` or `csr(offsets, indices, values, columns)`. Any number of threads may call one op. Copies share
/// what was tuned.
///
/// A call requires: 1) arguments that share a dimension agree on its extent, and static extents are
/// met; 2) data are not null and aligned to their element type; 3) no output overlaps another
/// argument; 4) the elements of an output do not share memory; 5) elements used as indices are in
/// bounds. Extents may be zero: sums over nothing are their identity.
///
/// Parameters that are declared `weight` may be bound once:
///
///     auto layer = op.with<"W">(w);      // copies w
///     layer(x, y);                       // the call brings the other arguments
///
/// Whatever a schedule computes from bound weights alone, such as a copy in the layout that its
/// tiles want, is computed once, before the first call at these extents, and not timed. Schedules
/// of bound and unbound calls are kept apart.
///
/// Where a GPU is, arrays in its memory are arguments too, all of them at once:
///
///     op(on_device(a, {m, k}), on_device(b, {k, n}), on_device(c, {m, n}));   // returns at once
///     op.on(stream)(on_device(a, {m, k}), ...);           // a CUstream or cudaStream_t
///
/// Such a call runs on the device that they lie on, in its primary context, after what was started on the
/// stream before. Arrays are dense, in any order of their dimensions, and aligned to 16 bytes; scalars and
/// bound weights stay on the host. `warm` or the first call compiles; a call after that allocates nothing,
/// and a graph may record it. See dispatch/device_kernel.hpp for what is required and refused.
template <class Kernel, class... Bound>
class tuned {
  using kernel_type = std::remove_const_t<Kernel>;  // decltype of a constexpr variable is const

 public:
  /// @throws argument_error for options that make no sense
  tuned(const Kernel& kernel,
        const tuned_options& options = {})  // NOLINT: `tuned op = kernel;` reads well
      requires(sizeof...(Bound) == 0)
      : dispatcher_(make_dispatcher(any_kernel(kernel), options)),
        formats_(make_format_choice(any_kernel(kernel), options)) {}
  /// Of several algorithms: `tuned op{alternatives(direct, by_matmul)};`
  /// @throws argument_error as above
  tuned(const dsl::algorithms<Kernel>& several, const tuned_options& options = {})  // NOLINT
      requires(sizeof...(Bound) == 0)
      : dispatcher_(make_dispatcher(several.kernels, options, several.derive)),
        formats_(make_format_choice(several.kernels, options)) {}

  /// This op with the weight `Name` bound to a copy of `value`; calls leave it out.
  /// @throws argument_error naming the parameter when extents or data make no sense
  template <fixed_string Name, class Argument>
  auto with(Argument&& value) const {
    if constexpr (dsl::check_on_host<"with", Argument>() &&
                  dsl::check_binding<kernel_type, Name, Argument, Bound...>()) {
      constexpr int at = dsl::param_index<kernel_type, Name>();
      const dsl::argument one = dsl::make_argument<dsl::param_of<kernel_type, at>>(value);
      return tuned<Kernel, Bound..., meta::to_name<Name>>(dispatcher_->with(
          dsl::first_array_of(static_cast<const kernel_type*>(nullptr), at), erase(one)));
    }
  }

  /// Runs the kernel.
  /// @throws argument_error naming the parameters, build_error when no code can be made
  template <class... Argument>
  void operator()(Argument&&... arguments) const {
    if constexpr (dsl::any_on_device<Argument...>)
      start(nullptr, arguments...);
    else if constexpr (dsl::check_call<callable, Argument...>())
      with_arguments(
          [&](const dispatch::call_argument* a) {
            formats_ ? formats_->call(a) : dispatcher_->call(a);
          },
          arguments...);
  }

  /// This op with calls on arrays in a GPU's memory that start on a stream, a CUstream or cudaStream_t:
  /// `op.on(stream)(on_device(x, {n}), on_device(y, {n}))`.
  auto on(void* stream) const {
    return [op = *this, stream](auto&&... arguments) { op.start(stream, arguments...); };
  }

  /// What runs for these arguments, why, how fast, and where it came from. Prepares it when it did
  /// not run yet.
  template <class... Argument>
  std::string report(Argument&&... arguments) const {
    std::string out;
    if constexpr (dsl::any_on_device<Argument...>)
      on_device_with([&](dispatch::device_dispatcher& d,
                         const dispatch::call_argument* a) { out = d.report(a); },
                     arguments...);
    else if constexpr (dsl::check_call<callable, Argument...>())
      with_arguments(
          [&](const dispatch::call_argument* a) {
            out = formats_ ? formats_->report(a) : dispatcher_->report(a);
          },
          arguments...);
    return out;
  }

  /// Does what a first call does, except running the kernel on the arguments.
  template <class... Argument>
  void warm(Argument&&... arguments) const {
    if constexpr (dsl::any_on_device<Argument...>)
      on_device_with(
          [](dispatch::device_dispatcher& d, const dispatch::call_argument* a) { d.warm(a); },
          arguments...);
    else if constexpr (dsl::check_call<callable, Argument...>())
      with_arguments(
          [&](const dispatch::call_argument* a) {
            formats_ ? formats_->warm(a) : dispatcher_->warm(a);
          },
          arguments...);
  }

  /// The same for dense arguments of the given extents, which need not exist yet.
  void warm_at(const search::extent_map& extents,
               dispatch::storage order = dispatch::storage::row_major) const {
    dispatcher_->warm(extents, order);
  }

  /// A call to tune beside others: `tune_together({op.at(a, b, c), other.at(x, y)})`. The arguments
  /// have to live until then.
  template <class... Argument>
  dispatch::tuning_request at(Argument&&... arguments) const {
    dispatch::tuning_request out;
    if constexpr (dsl::check_on_host<"at", Argument...>() &&
                  dsl::check_call<callable, Argument...>())
      with_arguments(
          [&](const dispatch::call_argument* a) { out = dispatch::tuning_request(dispatcher_, a); },
          arguments...);
    return out;
  }
  /// The same for dense arguments of the given extents, which need not exist yet.
  dispatch::tuning_request at_extents(
      const search::extent_map& extents,
      dispatch::storage order = dispatch::storage::row_major) const {
    return {dispatcher_, extents, order};
  }
  /// A kernel whose extents are all static is a request itself.
  operator dispatch::tuning_request() const { return at_extents({}); }  // NOLINT

  /// Ends the tuning in progress, from any thread; what was measured is kept, and runs. Other
  /// arguments are tuned as before, and `warm` goes on with what was ended.
  void cancel() const {
    dispatcher_->cancel();
    if (formats_) formats_->cancel();
  }
  /// Waits for tuning in the background.
  void wait() const {
    dispatcher_->wait();
    if (formats_) formats_->wait();
  }

 private:
  template <class, class...>
  friend class tuned;
  using rest = dsl::remaining<kernel_type, Bound...>;
  using callable = typename rest::kernel;

  explicit tuned(std::shared_ptr<dispatch::dispatcher> d) : dispatcher_(std::move(d)) {}

  template <class... Argument>
  void start(void* stream, Argument&... arguments) const {
    on_device_with([&](dispatch::device_dispatcher& d,
                       const dispatch::call_argument* a) { d.call(a, stream); },
                   arguments...);
  }
  template <class Use, class... Argument>
  void on_device_with(const Use& use, Argument&... arguments) const {
    if constexpr (dsl::check_call<callable, Argument&...>())
      if constexpr (dsl::check_places<callable, Argument&...>())
        with_arguments([&](const dispatch::call_argument* a) { use(dispatcher_->on_device(), a); },
                       arguments...);
  }

  static dispatch::call_argument erase(const dsl::argument& a) {
    const void* data = a.rank > 0 ? a.data : a.address();  // scalars may lie in the argument
    return {const_cast<void*>(data), a.extents.data(), a.strides.data()};
  }

  template <class Use, class... Argument>
  void with_arguments(const Use& use, Argument&... arguments) const {
    const auto list = dsl::make_arguments<callable>(arguments...);
    std::array<dispatch::call_argument, Kernel::array_count + 1> erased;
    for (std::size_t i = 0; i < list.size(); ++i) erased[rest::positions[i]] = erase(list[i]);
    if constexpr (sizeof...(Bound) > 0) dispatcher_->fill_bound(erased.data());
    use(erased.data());
  }

  std::shared_ptr<dispatch::dispatcher> dispatcher_;
  std::shared_ptr<format_choice> formats_;  // null: calls take matrices as they come
};

template <class Kernel>
tuned(const dsl::algorithms<Kernel>&, tuned_options = {}) -> tuned<Kernel>;

namespace detail {

/// What a kernel becomes only where nothing else fits.
struct kernel_of_last_resort {
  template <class Kernel>
  kernel_of_last_resort(const Kernel&) noexcept;  // NOLINT
};

template <class>
struct unknown_options {};

}  // namespace detail

/// What is in braces has no type of its own: a misspelled option fits no other constructor, and
/// compilers would name neither it nor `tuned_options`.
template <class T, class... Bound>
class tuned<detail::unknown_options<T>, Bound...> {
  static_assert(
      sizeof(T) == 0,
      "tilewright: tuned op{kernel, {...}} is given an option that tuned_options does not "
      "have, or not in this order, or a value of another type; write tuned op{kernel, "
      "tuned_options{...}}, and the compiler names it");

 public:
  tuned(const detail::kernel_of_last_resort&, ...);
};

tuned(detail::kernel_of_last_resort, ...)->tuned<detail::unknown_options<char>>;

/// Prepares an op for dense arguments of the given extents:
///
///     warm(op, {{"M", 512}, {"N", 512}, {"K", 64}}, storage::column_major);   // Eigen's order
template <class Op>
void warm(const Op& op, const search::extent_map& extents,
          dispatch::storage order = dispatch::storage::row_major) {
  op.warm_at(extents, order);
}

/// An op with several weights bound to copies of values; calls leave them out:
///
///     const auto layer = bind(op, name_of<"W"> = w, name_of<"bias"> = b);
///     layer(x, y);
/// @throws argument_error naming the parameter when extents or data make no sense
template <class Op, fixed_string Name, class Argument, class... More>
auto bind(Op&& op, dsl::binding_to<Name, Argument> first, More... more) {
  auto one = op.template with<Name>(first.value);
  if constexpr (sizeof...(More) == 0)
    return one;
  else
    return tilewright::bind(one, more...);
}

/// Ends tuning of an op; the same as its member.
template <class Kernel, class... Bound>
void cancel(const tuned<Kernel, Bound...>& op) {
  op.cancel();
}

}  // namespace tilewright
