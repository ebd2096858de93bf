#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/dispatch/dispatcher.hpp>
#include <tilewright/dispatch/pattern_checks.hpp>
#include <tilewright/dispatch/pattern_lists.hpp>
#include <tilewright/impl/dispatch/specialization/specialization_table.hpp>
#include <tilewright/impl/dispatch/specialization/visit_list.hpp>
#include <tilewright/impl/dispatch/specialization/visits.hpp>
#include <tilewright/impl/dispatch/workspace.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/threads/stack.hpp>

namespace tilewright::dispatch {
namespace detail {

inline constexpr std::size_t fast_params = 16;  // arguments that fit on the stack of a call

/// What reifying, compiling and interpreting take at most of a thread's stack. // bytes
inline constexpr std::size_t enough_stack = 1 << 20;

/// The last binding that this thread used, of whatever dispatcher.
struct last_hit {
  std::uint64_t owner = 0;  // serial number of the dispatcher
  const void* binding = nullptr;
};
inline thread_local last_hit dispatch_hit;

/// Refuses extents that no parameter has.
inline void check_names(const kernel_signature& kernel, const search::extent_map& extents) {
  std::vector<std::string> known;
  for (const parameter_signature& p : kernel.params)
    for (std::size_t k = 0; k < p.extent_count(); ++k) {
      const std::string& dim = p.dim(k).name;
      if (!dim.empty() && !support::contains(known, dim)) known.push_back(dim);
    }
  for (const auto& [name, extent] : extents) {
    if (support::contains(known, name)) continue;
    std::string names;
    for (const std::string& k : known) names += (names.empty() ? "" : ", ") + k;
    throw argument_error(kernel.name + ": it has no dimension \"" + name +
                         "\"; its dimensions are " + names);
  }
}

/// What makes the kernel at given extents, with the order of its terms where it is to stay.
inline std::function<ir::function(const search::extent_map&)> ordered(
    std::function<ir::function(const search::extent_map&)> make, reductions order) {
  if (order == reductions::any_order) return make;
  return [make = std::move(make)](const search::extent_map& dims) {
    return ir::with_term_order(make(dims));
  };
}

/// @throws argument_error for a slot without code
inline void need_code(const kernel_signature& kernel, const specialization_slot& of) {
  if (!of.code) throw argument_error(kernel.name + ": there is nothing to tune without elements");
}

}  // namespace detail

struct dispatcher::state {
  state(kernel_signature k, std::function<ir::function(const search::extent_map&)> m,
        tuned_options o, weight_set w)
      : kernel(std::move(k)),
        make(detail::ordered(std::move(m), o.reductions)),
        options(std::move(o)),
        weights(std::move(w)),
        bindings(kernel),
        all(kernel, make, options, weights),
        serial(next_serial()) {}

  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  /// What a call runs, and its owner where it is for this call alone: it can only be interpreted yet. Of a
  /// call that was not known, the dispatcher lives until this has ended.
  struct bound {
    const detail::binding* what = nullptr;
    std::shared_ptr<const detail::binding> own = {};
    std::unique_ptr<const detail::visit_list::visit> inside = {};
  };
  enum class memory { checked, absent };
  /// @param again goes on with tuning that was cancelled before
  bound bind(const call_argument* a, memory data = memory::checked, bool again = false);
  bound prepare(const call_argument* a, memory data, bool again);
  std::unique_ptr<detail::binding> describe(const call_argument* a);
  void run(const detail::binding& b, const call_argument* a);
  std::string report(const detail::binding& b) const;
  void interpret(const detail::binding& b, const call_argument* a) const;
  /// The elements of arguments that say where others are.
  void check_elements(const detail::specialization_slot& of, const call_argument* a) const;
  /// What the inspector of the code computes of the patterns of a call.
  std::shared_ptr<const packed_weights> lists_of(const variant& v, const detail::binding& b,
                                                 const call_argument* a) const;

  kernel_signature kernel;
  std::function<ir::function(const search::extent_map&)> make;
  tuned_options options;
  weight_set weights;
  detail::binding_table bindings;
  detail::specialization_table all;
  std::uint64_t serial;
  std::atomic<device_dispatcher*> device{nullptr};
  std::unique_ptr<device_dispatcher> own_device;
  support::fork_mutex making_device;
};

TILEWRIGHT_INLINE dispatcher::dispatcher(
    kernel_signature kernel, std::function<ir::function(const search::extent_map&)> make,
    tuned_options options, weight_set weights)
    : state_(
          new state(std::move(kernel), std::move(make), std::move(options), std::move(weights))) {}

TILEWRIGHT_INLINE std::shared_ptr<dispatcher> dispatcher::with(std::size_t parameter,
                                                               const call_argument& value) const {
  weight_set weights = state_->weights;
  weights.add(state_->kernel, parameter, value);
  return std::make_shared<dispatcher>(state_->kernel, state_->make, state_->options,
                                      std::move(weights));
}

TILEWRIGHT_INLINE void dispatcher::fill_bound(call_argument* arguments) const noexcept {
  state_->weights.fill(arguments);
}

TILEWRIGHT_INLINE dispatcher::~dispatcher() = default;

/// A binding for these extents and strides.
TILEWRIGHT_INLINE std::unique_ptr<detail::binding> dispatcher::state::describe(
    const call_argument* a) {
  const search::extent_map dims = bound_extents(kernel, a);
  check_strides(kernel, a);
  auto fresh = std::make_unique<detail::binding>();
  fresh->touched = touched_bytes_of(kernel, a);
  fresh->nothing = true;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const std::size_t rank = kernel.params[i].dims.size();
    fresh->extents.insert(fresh->extents.end(), a[i].extents,
                          a[i].extents + kernel.params[i].extent_count());
    fresh->strides.insert(fresh->strides.end(), a[i].strides, a[i].strides + rank);
    if (fresh->touched[i].written && !fresh->touched[i].none()) fresh->nothing = false;
  }
  fresh->of = &all.at(dims, *fresh, a);
  return fresh;
}

/// What is known of these extents and strides; all of it is found out where nothing is.
TILEWRIGHT_INLINE dispatcher::state::bound dispatcher::state::bind(const call_argument* a,
                                                                   memory data, bool again) {
  const detail::binding* there = bindings.find(a);
  if (there && !again) return {there};
  const support::default_float_environment ours;  // traps of the host are not for made-up data
  auto inside = std::make_unique<const detail::visit_list::visit>(all.visits());
  bound out = support::with_stack(detail::enough_stack, [&] { return prepare(a, data, again); });
  out.inside = std::move(inside);
  return out;
}

TILEWRIGHT_INLINE dispatcher::state::bound dispatcher::state::prepare(const call_argument* a,
                                                                      memory data, bool again) {
  if (const detail::binding* there = bindings.find(a)) {
    all.make_ready(*there->of, nullptr, again);
    return {there};
  }
  std::unique_ptr<detail::binding> fresh = describe(a);
  detail::specialization_slot& of = *fresh->of;
  if (data == memory::checked) {  // before time is spent on tuning
    check_memory(kernel, fresh->touched, a);
    check_elements(of, a);
  }
  if (!all.make_ready(of, data == memory::checked ? a : nullptr, again)) {
    std::shared_ptr<const detail::binding> own = std::move(fresh);
    return {own.get(), own};
  }
  const std::lock_guard lock(all.sync().mutex);
  if (const detail::binding* meanwhile = bindings.find(a)) return {meanwhile};
  return {&bindings.add(std::move(fresh), a)};
}

TILEWRIGHT_INLINE void dispatcher::state::interpret(const detail::binding& b,
                                                    const call_argument* a) const {
  std::vector<ir::tensor_view> views;
  static std::int64_t no_elements = 0;  // stands for the null pointer of an empty argument
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    views.push_back({a[i].data ? a[i].data : &no_elements,
                     {a[i].strides, a[i].strides + kernel.params[i].dims.size()}});
  ir::interpret(b.of->identity ? *b.of->identity : b.of->function, std::move(views));
}

TILEWRIGHT_INLINE void dispatcher::state::check_elements(const detail::specialization_slot& of,
                                                         const call_argument* a) const {
  if (of.gathers) check_indices(kernel, of.operands, a);
  if (!of.sparse || options.patterns == pattern_check::never) return;
  if (options.patterns == pattern_check::every_call)
    check_patterns(kernel, of.operands, a);
  else
    check_new_patterns(kernel, of.operands, a);
}

TILEWRIGHT_INLINE std::shared_ptr<const packed_weights> dispatcher::state::lists_of(
    const variant& v, const detail::binding& b, const call_argument* a) const {
  const std::uint64_t pattern = number_of_offsets(b.of->operands, a, options.matrices_change);
  return v.lists->of(pattern, [&] {
    std::vector<void*> data;
    for (std::size_t i = 0; i < kernel.params.size(); ++i) data.push_back(a[i].data);
    return packed_weights(*v.code, std::move(data), b.strides.data(), all.executor());
  });
}

TILEWRIGHT_INLINE void dispatcher::state::run(const detail::binding& b, const call_argument* a) {
  check_memory(kernel, b.touched, a);
  if (b.nothing) return;
  detail::specialization_slot& of = *b.of;
  check_elements(of, a);
  if (of.following.load(std::memory_order_relaxed)) all.follow(of);
  const support::masked_float_traps quiet;  // vectors compute lanes that nobody takes
  const variant* v = of.code ? of.code->current() : nullptr;
  if (!v || !v->entry) {
    support::with_stack(detail::enough_stack, [&] { return interpret(b, a), true; });
    return;
  }
  const std::size_t n = kernel.params.size();
  const std::shared_ptr<const packed_weights> lists = v->lists ? lists_of(*v, b, a) : nullptr;
  const std::vector<void*>& packed = lists ? lists->data() : v->packed.data();
  std::array<void*, detail::fast_params> few;
  std::vector<void*> many;
  void** data = few.data();
  if (n + packed.size() > few.size()) {
    many.resize(n + packed.size());
    data = many.data();
  }
  for (std::size_t i = 0; i < n; ++i) data[i] = a[i].data;
  for (std::size_t i = 0; i < packed.size(); ++i) data[n + i] = packed[i];
  std::byte* workspace =
      v->workspace_bytes ? detail::workspace_lease::get(v->workspace_bytes) : nullptr;
  const backend::call c{data, b.strides.data(), workspace, &all.executor(), nullptr, nullptr};
  v->entry(&c);
}

TILEWRIGHT_INLINE void dispatcher::call(const call_argument* a) {
  detail::last_hit& hit = detail::dispatch_hit;
  const auto* b = static_cast<const detail::binding*>(hit.binding);
  if (hit.owner != state_->serial || !state_->bindings.matches(*b, a)) {
    const state::bound found = state_->bind(a);
    b = found.what;
    if (!found.own) hit = {state_->serial, b};
    if (found.own || found.inside) return state_->run(*b, a);
  }
  state_->run(*b, a);
}

TILEWRIGHT_INLINE void dispatcher::warm(const call_argument* a) {
  state_->bind(a, state::memory::checked, true);
}

TILEWRIGHT_INLINE void dispatcher::warm(const search::extent_map& extents, storage order) {
  with_extents(extents, order,
               [&](const call_argument* a) { state_->bind(a, state::memory::absent, true); });
}

TILEWRIGHT_INLINE const kernel_signature& dispatcher::signature() const noexcept {
  return state_->kernel;
}

TILEWRIGHT_INLINE void dispatcher::with_extents(
    const search::extent_map& extents, storage order,
    const std::function<void(const call_argument*)>& use) const {
  detail::check_names(state_->kernel, extents);
  std::vector<std::vector<std::int64_t>> shapes, strides;
  std::vector<call_argument> arguments;
  for (const parameter_signature& p : state_->kernel.params) {
    std::vector<std::int64_t>& shape = shapes.emplace_back();
    for (std::size_t k = 0; k < p.extent_count(); ++k) {
      const parameter_signature::dimension& d = p.dim(k);
      const auto given = extents.find(d.name);
      if (!d.name.empty() && given == extents.end())
        throw argument_error(state_->kernel.name + ": extent \"" + d.name + "\" of \"" + p.name +
                             "\" is missing");
      shape.push_back((d.name.empty() ? d.extent : given->second) + d.more);
    }
    std::vector<std::int64_t>& stride = strides.emplace_back(p.rank());
    std::int64_t next = 1;
    for (std::size_t k = 0; k < p.rank(); ++k) {
      const std::size_t d = order == storage::column_major ? k : p.rank() - 1 - k;
      stride[d] = next;
      if (__builtin_mul_overflow(next, shape[d], &next))
        next = std::numeric_limits<std::int64_t>::max();
    }
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    arguments.push_back({nullptr, shapes[i].data(), strides[i].data()});
  use(arguments.data());
}

TILEWRIGHT_INLINE std::string dispatcher::report(const call_argument* a) {
  const state::bound found = state_->bind(a);
  const support::default_float_environment ours;
  return support::with_stack(detail::enough_stack, [&] { return state_->report(*found.what); });
}

TILEWRIGHT_INLINE std::string dispatcher::state::report(const detail::binding& b) const {
  if (b.nothing) return kernel.name + ": every output is empty; nothing runs\n";
  if (b.of->identity) return kernel.name + ": a reduction over nothing; outputs are its identity\n";
  const std::string remark = all.threads_remark();
  return b.of->code->report() + (remark.empty() ? remark : "  remark    " + remark + "\n");
}

TILEWRIGHT_INLINE void dispatcher::reload(const call_argument* a) {
  const std::unique_ptr<detail::binding> b = state_->describe(a);
  if (!b->of->code) return;
  const support::default_float_environment ours;
  state_->all.reload(*b->of);
}

TILEWRIGHT_INLINE tuning_task dispatcher::tuning(const call_argument* a) {
  const std::unique_ptr<detail::binding> b = state_->describe(a);
  detail::need_code(state_->kernel, *b->of);
  return state_->all.task(*b->of, a);
}

TILEWRIGHT_INLINE const search::workload& dispatcher::task(const call_argument* a) {
  const std::unique_ptr<detail::binding> b = state_->describe(a);
  detail::need_code(state_->kernel, *b->of);
  return b->of->code->task();
}

TILEWRIGHT_INLINE device_dispatcher& dispatcher::on_device() {
  state& s = *state_;
  if (device_dispatcher* d = s.device.load(std::memory_order_acquire)) return *d;
  const std::lock_guard lock(s.making_device);
  if (!s.own_device)
    s.own_device = std::make_unique<device_dispatcher>(s.kernel, s.make, s.options, s.weights);
  s.device.store(s.own_device.get(), std::memory_order_release);
  return *s.own_device;
}

TILEWRIGHT_INLINE void dispatcher::cancel() {
  state_->all.cancel();
  if (device_dispatcher* d = state_->device.load(std::memory_order_acquire)) d->cancel();
}
TILEWRIGHT_INLINE void dispatcher::wait() {
  state_->all.wait();
  if (device_dispatcher* d = state_->device.load(std::memory_order_acquire)) d->wait();
}

}  // namespace tilewright::dispatch
