#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/dispatch/argument_checks.hpp>
#include <tilewright/dispatch/call_session.hpp>
#include <tilewright/dispatch/device_dispatcher.hpp>
#include <tilewright/dispatch/device_kernel.hpp>
#include <tilewright/dispatch/layout.hpp>
#include <tilewright/dispatch/zero_extents.hpp>
#include <tilewright/impl/dispatch/at_exit.hpp>
#include <tilewright/impl/dispatch/background_threads.hpp>
#include <tilewright/impl/dispatch/binding_table.hpp>
#include <tilewright/impl/dispatch/call_mode.hpp>
#include <tilewright/impl/dispatch/progress_printer.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/thread.hpp>
#include <tilewright/support/threads/stack.hpp>

namespace tilewright::dispatch {
namespace detail {

/// Where the kernel of a specialization is made and swapped on one device. Kernels that were swapped
/// stay: graphs that were recorded before start them.
struct device_slot {
  std::atomic<const device_kernel*> current{nullptr};
  std::atomic<std::thread::id> preparing{};
  std::atomic<bool> cancelled{false};
  std::mutex mutex;  // held while code is made
  std::vector<std::unique_ptr<const device_kernel>> made;
  std::thread background;  // this and the next under the lock of the dispatcher
  pid_t started_in = 0;

  const device_kernel& publish(std::unique_ptr<const device_kernel> k) {
    made.push_back(std::move(k));
    current.store(made.back().get(), std::memory_order_release);
    return *made.back();
  }
};

/// The kernel at one set of extents and layouts, on each device.
struct device_specialization {
  ir::function function;
  bool nothing = false;         // every output is empty
  std::vector<device_slot> on;  // by the number of the device
  explicit device_specialization(int devices) : on(static_cast<std::size_t>(devices)) {}
};

/// One set of extents and strides that calls came with, as `binding`.
struct device_binding {
  device_specialization* of = nullptr;
  std::vector<std::int64_t> extents, strides;  // of all parameters
  std::vector<touched_bytes> touched;          // per parameter
  std::uint64_t hash = 0;
};

/// Copies of bound weights on one device.
struct weights_on_device {
  backend::cuda::device device;
  std::vector<backend::cuda::device_memory> memory;
  std::vector<void*> address;  // by parameter, null where nothing is bound
  explicit weights_on_device(int ordinal) : device(ordinal) {}
};

}  // namespace detail

struct device_dispatcher::state {
  using specialization = detail::device_specialization;
  using binding = detail::device_binding;
  using slot = detail::device_slot;

  state(kernel_signature k, std::function<ir::function(const search::extent_map&)> m,
        const tuned_options& o, const weight_set& w)
      : kernel(std::move(k)),
        make(std::move(m)),
        options(o),
        weights(w),
        mode(detail::mode_of_environment(o.mode)),
        bindings(kernel) {}

  [[noreturn]] void refuse(const std::string& text) const {
    throw argument_error(kernel.name + ": " + text);
  }

  const binding& bind(const call_argument* a);
  std::unique_ptr<binding> describe(const call_argument* a);
  specialization& specialization_at(const search::extent_map& dims,
                                    const std::vector<layout_class>& layouts, const binding& b);
  int devices_here() const;
  int device_of(const binding& b, const call_argument* a) const;
  const device_kernel& ready(const binding& b, const call_argument* a, int ordinal,
                             backend::cuda::stream_ref stream);
  const device_kernel& prepare(specialization& of, slot& c, int ordinal);
  std::unique_ptr<specialization> make_specialization(const search::extent_map& dims,
                                                      const std::vector<layout_class>& layouts,
                                                      const binding& b) const;
  std::unique_ptr<const device_kernel> build(const specialization& of, slot& c, int ordinal,
                                             tilewright::mode how);
  search::session_options session(const search::workload& w, const slot& c);
  void tune_in_background(specialization& of, slot& c, int ordinal);
  void* const* weights_on(int ordinal, const call_argument* a);
  void end_threads() noexcept;
  void tell(search::event::kind what, const std::string& text,
            const search::progress& p = {}) const {
    if (options.events) options.events({what, kernel.name, text, p});
  }

  kernel_signature kernel;
  std::function<ir::function(const search::extent_map&)> make;
  const tuned_options& options;
  weight_set weights;
  tilewright::mode mode;
  detail::table_of_bindings<binding> bindings;
  support::fork_mutex mutex;  // of what follows; never held while code is made
  std::map<std::string, std::unique_ptr<specialization>> all;
  std::map<int, std::unique_ptr<detail::weights_on_device>> copied;
  int devices = -1;  // that this process may use; -1: nobody asked
  pid_t owner = 0;   // who asked
  detail::exit_entry exit{[](void* self) { static_cast<state*>(self)->end_threads(); }, this};
};

TILEWRIGHT_INLINE device_dispatcher::device_dispatcher(
    kernel_signature kernel, std::function<ir::function(const search::extent_map&)> make,
    const tuned_options& options, const weight_set& weights)
    : state_(new state(std::move(kernel), std::move(make), options, weights)) {}

TILEWRIGHT_INLINE device_dispatcher::~device_dispatcher() { state_->end_threads(); }

TILEWRIGHT_INLINE void device_dispatcher::state::end_threads() noexcept {
  detail::background_threads threads;
  {
    const std::lock_guard lock(mutex);
    for (auto& [name, i] : all)
      for (slot& c : i->on) {
        c.cancelled = true;
        if (c.background.joinable()) threads.emplace_back(c.started_in, std::move(c.background));
      }
  }
  detail::end(std::move(threads));
}

// ---- extents ----

/// Of what was seen before, without a lock.
TILEWRIGHT_INLINE const detail::device_binding& device_dispatcher::state::bind(
    const call_argument* a) {
  if (const binding* there = bindings.find(a)) return *there;
  const support::default_float_environment ours;
  std::unique_ptr<binding> fresh = describe(a);
  const std::lock_guard lock(mutex);
  if (const binding* meanwhile = bindings.find(a)) return *meanwhile;
  return bindings.add(std::move(fresh), a);
}

TILEWRIGHT_INLINE std::unique_ptr<detail::device_binding> device_dispatcher::state::describe(
    const call_argument* a) {
  const search::extent_map dims = bound_extents(kernel, a);
  check_strides(kernel, a);
  auto fresh = std::make_unique<binding>();
  fresh->touched = touched_bytes_of(kernel, a);
  std::vector<layout_class> layouts;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const parameter_signature& p = kernel.params[i];
    layouts.push_back(classify(p.rank(), a[i].extents, a[i].strides));
    if (!layouts.back().dense && !fresh->touched[i].none())
      refuse("the elements of \"" + p.name +
             "\" do not lie side by side; a GPU takes dense arrays: copy it to one, or make the "
             "kernel's extents those of the array that it is a part of");
    fresh->extents.insert(fresh->extents.end(), a[i].extents, a[i].extents + p.extent_count());
    fresh->strides.insert(fresh->strides.end(), a[i].strides, a[i].strides + p.rank());
  }
  fresh->of = &specialization_at(dims, layouts, *fresh);
  return fresh;
}

TILEWRIGHT_INLINE detail::device_specialization& device_dispatcher::state::specialization_at(
    const search::extent_map& dims, const std::vector<layout_class>& layouts, const binding& b) {
  std::string name = search::write_numbers(b.extents);
  for (const layout_class& l : layouts) name += "|" + l.text();
  {
    const std::lock_guard lock(mutex);
    if (owner == 0) {
      devices = devices_here();
      owner = ::getpid();
    }
    if (const auto there = all.find(name); there != all.end()) return *there->second;
  }
  std::unique_ptr<specialization> made = make_specialization(dims, layouts, b);
  const std::lock_guard lock(mutex);
  return *all.emplace(name, std::move(made)).first->second;
}

TILEWRIGHT_INLINE std::unique_ptr<detail::device_specialization>
device_dispatcher::state::make_specialization(const search::extent_map& dims,
                                              const std::vector<layout_class>& layouts,
                                              const binding& b) const {
  auto made = std::make_unique<specialization>(devices);
  made->nothing =
      support::none(b.touched, [](const touched_bytes& t) { return t.written && !t.none(); });
  if (made->nothing) return made;
  const std::int64_t placeholder = unused_extent(dims);
  const bool zero = support::any(dims, [](const auto& d) { return d.second == 0; });
  search::extent_map whole = dims;
  for (auto& [dim, extent] : whole)
    if (extent == 0) extent = placeholder;
  constexpr std::size_t enough_stack = 1 << 20;  // bytes, for reifying
  made->function = support::with_stack(enough_stack, [&] {
    const ir::function f = make(whole);
    return with_layouts(zero ? without_iterations(f, placeholder) : f, layouts);
  });
  return made;
}

TILEWRIGHT_INLINE int device_dispatcher::state::devices_here() const {
  try {
    if (const int out = backend::cuda::device::count(); out > 0) return out;
  } catch (const build_error& e) {
    throw build_error(kernel.name + ": its arrays are said to lie on a GPU, and " + e.what());
  }
  throw build_error(kernel.name +
                    ": its arrays are said to lie on a GPU, and this process may use none; pass "
                    "arrays of the host, without on_device");
}

// ---- devices ----

/// Where the first array lies; 0 where it lies on none, which is refused later, by its name.
TILEWRIGHT_INLINE int device_dispatcher::state::device_of(const binding& b,
                                                          const call_argument* a) const {
  if (devices == 1) return 0;
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    const bool scalar = kernel.params[i].rank() == 0 && !kernel.params[i].written;
    if (scalar || b.touched[i].none() || weights.has(i)) continue;
    const int at = backend::cuda::device::ordinal_of(a[i].data);
    return at >= 0 && at < devices ? at : 0;
  }
  return 0;
}

TILEWRIGHT_INLINE const device_kernel& device_dispatcher::state::ready(
    const binding& b, const call_argument* a, int ordinal, backend::cuda::stream_ref stream) {
  slot& c = b.of->on[static_cast<std::size_t>(ordinal)];
  if (const device_kernel* k = c.current.load(std::memory_order_acquire)) return *k;
  if (owner != ::getpid())
    refuse("a forked child cannot use its parent's device; start another program");
  if (c.preparing.load() == std::this_thread::get_id())
    refuse("its own event handler calls it, and its tuning waits for that handler");
  if (backend::cuda::device(ordinal).captures(stream))
    refuse(
        "the first call at these extents compiles it, which a graph cannot record; call warm() "
        "before");
  const std::lock_guard lock(c.mutex);
  if (const device_kernel* k = c.current.load(std::memory_order_acquire)) return *k;
  const struct guard {
    std::atomic<std::thread::id>& id;
    ~guard() { id = std::thread::id(); }
  } end{c.preparing};
  c.preparing = std::this_thread::get_id();
  const support::default_float_environment ours;
  if (!weights.empty()) weights_on(ordinal, a);  // a later call may be recorded
  return prepare(*b.of, c, ordinal);
}

/// Under the lock of `c`.
TILEWRIGHT_INLINE const device_kernel& device_dispatcher::state::prepare(specialization& of,
                                                                         slot& c, int ordinal) {
  const bool background = mode == mode::background && options.effort != effort::estimate;
  c.cancelled = false;
  const device_kernel& k = c.publish(build(of, c, ordinal, background ? mode::off : mode));
  static std::atomic<bool> known{false};
  detail::exit_entry::come_first(known);  // compiler and driver have been opened
  if (!background || k.measured()) return k;
  const std::lock_guard lock(mutex);
  c.background =
      support::start_thread([this, &of, &c, ordinal] { tune_in_background(of, c, ordinal); });
  c.started_in = ::getpid();
  return k;
}

TILEWRIGHT_INLINE std::unique_ptr<const device_kernel> device_dispatcher::state::build(
    const specialization& of, slot& c, int ordinal, tilewright::mode how) {
  device_options o;
  o.database = options.database;
  o.own_database = options.own_database;
  o.seed = options.seed;
  o.device = ordinal;
  o.space = options.space;
  o.stored_only = how == mode::miss_error;
  o.indices = options.patterns;
  if ((how == mode::now || how == mode::background) && options.effort != effort::estimate)
    o.session = [this, &c](const search::workload& w) { return session(w, c); };
  return std::make_unique<const device_kernel>(of.function, o);
}

TILEWRIGHT_INLINE search::session_options device_dispatcher::state::session(
    const search::workload& w, const slot& c) {
  const auto db =
      options.own_database ? options.own_database : search::database::shared(options.database);
  search::session_options out = call_session(options, *db, w.key);
  out.cancelled = &c.cancelled;
  if (options.events) tell(search::event::kind::miss, db->why(search::wanted_record(w)));
  const auto print = std::make_shared<detail::progress_printer>(options.verbose);
  out.events = [this, print, db](const search::progress& p) {  // db: the session may learn from it
    (*print)(kernel.name, p);
    tell(search::event::kind::progress, {}, p);
  };
  return out;
}

TILEWRIGHT_INLINE void device_dispatcher::state::tune_in_background(specialization& of, slot& c,
                                                                    int ordinal) {
  const support::default_float_environment ours;
  try {
    auto better = build(of, c, ordinal, mode::background);
    const std::string from = better->origin();
    {
      const std::lock_guard lock(c.mutex);
      c.publish(std::move(better));
    }
    tell(search::event::kind::swap, from);
  } catch (const std::exception& e) {  // what runs goes on
    tell(search::event::kind::failure, e.what());
  }
}

/// Addresses of the bound weights on a device, copied there by the first call.
TILEWRIGHT_INLINE void* const* device_dispatcher::state::weights_on(int ordinal,
                                                                    const call_argument* a) {
  const std::lock_guard lock(mutex);
  std::unique_ptr<detail::weights_on_device>& there = copied[ordinal];
  if (there) return there->address.data();
  auto fresh = std::make_unique<detail::weights_on_device>(ordinal);
  fresh->address.resize(kernel.params.size());
  for (const std::size_t i : weights.positions()) {
    const parameter_signature& p = kernel.params[i];
    if (p.rank() == 0) continue;
    std::int64_t size = bytes(p.type);
    for (std::size_t d = 0; d < p.rank(); ++d) size *= a[i].extents[d];
    fresh->memory.emplace_back(fresh->device, static_cast<std::size_t>(size));
    fresh->device.copy_in(fresh->memory.back().get(), a[i].data, static_cast<std::size_t>(size));
    fresh->address[i] = fresh->memory.back().data();
  }
  return (there = std::move(fresh))->address.data();
}

// ---- calls ----

TILEWRIGHT_INLINE void device_dispatcher::call(const call_argument* a, void* stream) {
  state& s = *state_;
  const detail::device_binding& b = s.bind(a);
  check_memory(s.kernel, b.touched, a);
  if (b.of->nothing) return;
  const int ordinal = s.device_of(b, a);
  const device_kernel& k = s.ready(b, a, ordinal, static_cast<backend::cuda::stream_ref>(stream));
  constexpr std::size_t fast = 32;  // arguments that fit on the stack of a call
  const std::size_t n = s.kernel.params.size();
  std::array<void*, fast> few;
  std::vector<void*> many;
  if (n > fast) many.resize(n);
  void** data = n > fast ? many.data() : few.data();
  for (std::size_t i = 0; i < n; ++i) data[i] = a[i].data;
  if (!s.weights.empty()) {
    void* const* bound = s.weights_on(ordinal, a);
    for (std::size_t i = 0; i < n; ++i)
      if (bound[i]) data[i] = bound[i];
  }
  k({data, n}, stream);
}

TILEWRIGHT_INLINE void device_dispatcher::warm(const call_argument* a) {
  state& s = *state_;
  const detail::device_binding& b = s.bind(a);
  if (!b.of->nothing) s.ready(b, a, s.device_of(b, a), nullptr);
}

TILEWRIGHT_INLINE std::string device_dispatcher::report(const call_argument* a) {
  state& s = *state_;
  const detail::device_binding& b = s.bind(a);
  if (b.of->nothing) return s.kernel.name + ": every output is empty; nothing runs\n";
  const device_kernel& k = s.ready(b, a, s.device_of(b, a), nullptr);
  std::string out = s.kernel.name + " at " + search::write_numbers(b.extents) + " on " +
                    k.device_name() + "\n  code      " + k.origin() + "\n  schedule\n";
  const std::string& trace = k.trace();
  for (std::size_t at = 0; at < trace.size();) {
    const std::size_t end = std::min(trace.find('\n', at), trace.size());
    out += "    " + trace.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

TILEWRIGHT_INLINE void device_dispatcher::cancel() {
  const std::lock_guard lock(state_->mutex);
  for (auto& [name, i] : state_->all)
    for (detail::device_slot& c : i->on) c.cancelled = true;
}

TILEWRIGHT_INLINE void device_dispatcher::wait() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(state_->mutex);
    for (auto& [name, i] : state_->all)
      for (detail::device_slot& c : i->on)
        if (c.background.joinable() && c.started_in == ::getpid() &&
            c.background.get_id() != std::this_thread::get_id())
          threads.push_back(std::move(c.background));
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace tilewright::dispatch
