#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/dispatch/device_dispatcher.hpp>
#include <tilewright/impl/model/device/constant_pool.hpp>
#include <tilewright/model/device/device_program.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {

struct device_program::state {
  using device_memory = backend::cuda::device_memory;
  using stream_ref = backend::cuda::stream_ref;

  /// What calls on one stream use: they follow each other.
  struct lease {
    stream_ref stream;
    device_memory arena;
    std::vector<std::vector<dispatch::call_argument>> arguments;  // [launches][parameters]
    std::vector<const void*> good_indices;                        // addresses that were looked at
  };

  std::shared_ptr<const executable> plan;
  backend::cuda::device device;
  pid_t owner = ::getpid();
  detail::constant_pool pool;
  std::optional<device_memory> constants;
  std::vector<std::vector<std::int64_t>> constant_at;  // [launches][parameters] bytes, of constants
  std::atomic<bool> is_compiled{false};
  std::mutex mutex;                    // of what follows, held while a call starts
  std::list<lease> leases;             // one a stream
  std::vector<const void*> looked_at;  // inputs and outputs that were found to lie on the device
  std::mutex copying;  // of what follows, held while a call with arrays of the host runs
  std::optional<device_memory> copies;  // of all inputs, then outputs

  state(std::shared_ptr<const executable> p, int ordinal) : plan(std::move(p)), device(ordinal) {
    if (!plan->gpu() || !plan->copies().empty())
      throw internal_error(
          "a program for a device needs a plan for one, whose kernels write every "
          "output");
    for (const launch& l : plan->launches()) {
      constant_at.emplace_back();
      for (std::size_t k = 0; k < l.slots.size(); ++k)
        constant_at.back().push_back(
            l.slots[k].where == launch::slot::fixed
                ? pool.add(l.slots[k].data, elements_of(l.extents[k]) * bytes(l.types[k]))
                : 0);
    }
    constants.emplace(device, static_cast<std::size_t>(pool.size()));
    pool.each([&](const std::byte* data, std::size_t size, std::int64_t at) {
      device.copy_in(constants->get() + static_cast<backend::cuda::device_pointer>(at), data, size);
    });
  }

  void refuse(int requirement, const std::string& text) const {
    throw argument_error(plan->whole().name + ": " + text + " (requirement " +
                         std::to_string(requirement) + ")");
  }

  static void* behind(void* data, std::int64_t offset) {
    return static_cast<std::byte*>(data) + offset;
  }

  /// Under the lock.
  lease& lease_of(stream_ref stream) {
    for (lease& l : leases)
      if (l.stream == stream) return l;
    if (device.captures(stream))
      refuse(5, "its arena of " + std::to_string(plan->arena_bytes()) +
                    " bytes cannot be allocated while a graph records the stream; call it once on "
                    "this stream before");
    lease fresh{
        stream, device_memory(device, static_cast<std::size_t>(plan->arena_bytes())), {}, {}};
    for (std::size_t k = 0; k < plan->launches().size(); ++k) {
      const launch& l = plan->launches()[k];
      fresh.arguments.emplace_back();
      for (std::size_t p = 0; p < l.slots.size(); ++p) {
        void* data = nullptr;
        if (l.slots[p].where == launch::slot::arena)
          data = behind(fresh.arena.data(), l.slots[p].offset);
        if (l.slots[p].where == launch::slot::fixed)
          data = behind(constants->data(), constant_at[k][p]);
        fresh.arguments.back().push_back({data, l.extents[p].data(), l.strides[p].data()});
      }
    }
    leases.push_back(std::move(fresh));
    return leases.back();
  }

  /// Inputs and outputs of this call in the arguments of all launches.
  void fill(lease& to, const std::vector<void*>& inputs, const std::vector<void*>& outputs) const {
    for (std::size_t k = 0; k < plan->launches().size(); ++k) {
      const launch& l = plan->launches()[k];
      for (std::size_t p = 0; p < l.slots.size(); ++p) {
        const launch::slot& s = l.slots[p];
        if (s.where == launch::slot::input)
          to.arguments[k][p].data = behind(inputs[s.number], s.offset);
        if (s.where == launch::slot::output)
          to.arguments[k][p].data = behind(outputs[s.number], s.offset);
      }
    }
  }

  /// Under the lock.
  void check_addresses(const std::vector<void*>& inputs, const std::vector<void*>& outputs) {
    const graph& g = plan->whole();
    std::vector<const void*> now;
    const auto check = [&](const char* what, value_id v, const void* at) {
      now.push_back(at);
      if (g.type_of(v).elements() == 0 || support::contains(looked_at, at)) return;
      const std::string who = std::string(what) + " \"" + g.at(v).name + "\" ";
      if (reinterpret_cast<std::uintptr_t>(at) % 16 != 0)
        refuse(2, who + "is not aligned to 16 bytes; copy it to memory of its own");
      if (const std::string text = device.why_unreachable(at); !text.empty())
        refuse(1, who + text + "; copy it to the device, or leave on_device out");
    };
    for (std::size_t k = 0; k < inputs.size(); ++k) check("input", g.inputs[k], inputs[k]);
    for (std::size_t k = 0; k < outputs.size(); ++k) check("output", g.outputs[k], outputs[k]);
    looked_at = std::move(now);
  }

  [[noreturn]] static void fail_index(const launch& l, const launch::index_check& c,
                                      std::int64_t index) {
    fail(l.what, "index " + std::to_string(index) + " is out of range; the indexed extents are " +
                     text_of(c.bound.extents));
  }

  /// What other kernels made, or the caller has on the device, behind what was started on the stream.
  void check_indices(const launch& l, lease& here, std::size_t k) {
    for (const launch::index_check& c : l.checks) {
      const void* const at = here.arguments[k][c.param].data;
      if (support::contains(here.good_indices, at)) continue;
      if (device.captures(here.stream))
        refuse(5, "the indices of " + text_of(l.what) +
                      " cannot be looked at while a graph records the stream; call it once on this "
                      "stream and these arrays before");
      std::vector<std::byte> elements(static_cast<std::size_t>(c.type.bytes()));
      device.copy_out(elements.data(), reinterpret_cast<backend::cuda::device_pointer>(at),
                      elements.size(), here.stream);
      device.synchronize(here.stream);
      if (const auto i = c.bound.outside(elements.data(), c.type)) fail_index(l, c, *i);
      constexpr std::size_t kept = 64;
      if (here.good_indices.size() == kept) here.good_indices.erase(here.good_indices.begin());
      here.good_indices.push_back(at);
    }
  }

  /// A failure to make code, as one of the node.
  template <class Do>
  static void with_node(const launch& l, const Do& act) {
    try {
      act();
    } catch (const build_error& e) {
      throw build_error(text_of(l.what) + ": " + e.what());
    } catch (const schedule_error& e) {
      throw build_error(text_of(l.what) + ": no schedule for a GPU: " + e.what());
    }
  }

  /// Under the lock.
  void compile(lease& here) {
    if (is_compiled) return;
    if (device.captures(here.stream))
      refuse(5,
             "its kernels cannot be compiled while a graph records the stream; call warm() before");
    for (std::size_t k = 0; k < plan->launches().size(); ++k) {
      const launch& l = plan->launches()[k];
      with_node(l, [&] { l.code->on_device().warm(here.arguments[k].data()); });
    }
    is_compiled = true;
  }

  /// Under the lock; at each launch `before` is called with its number.
  template <class Before>
  void start_all(lease& here, const Before& before) {
    for (std::size_t k = 0; k < plan->launches().size(); ++k) {
      const launch& l = plan->launches()[k];
      check_indices(l, here, k);
      before(k);
      with_node(l, [&] { l.code->on_device().call(here.arguments[k].data(), here.stream); });
    }
  }

  void check_owner() const {
    if (::getpid() != owner)
      refuse(3, "a forked child cannot use its parent's device; make the model after the fork");
  }

  void start(const std::vector<void*>& inputs, const std::vector<void*>& outputs,
             stream_ref stream) {
    const std::lock_guard lock(mutex);
    if (const std::string text = device.why_foreign(stream); !text.empty())
      refuse(4, "the stream " + text +
                    "; make it there, as the runtime API and PyTorch do, or give none");
    check_addresses(inputs, outputs);
    lease& here = lease_of(stream);
    fill(here, inputs, outputs);
    compile(here);
    start_all(here, [](std::size_t) {});
  }

  /// Offsets of copies of the arguments, inputs first. // bytes
  std::vector<std::int64_t> places_of_copies(std::int64_t& size) const {
    constexpr std::int64_t align = 256;
    std::vector<std::int64_t> out;
    size = 0;
    const graph& g = plan->whole();
    for (const std::vector<value_id>* list : {&g.inputs, &g.outputs})
      for (const value_id v : *list) {
        out.push_back(size);
        size += (g.type_of(v).bytes() + align - 1) / align * align;
      }
    return out;
  }

  /// Memory for copies of the arguments, under the lock of `copying`.
  void make_copies(std::vector<void*>& inputs, std::vector<void*>& outputs) {
    std::int64_t size = 0;
    const std::vector<std::int64_t> at = places_of_copies(size);
    if (!copies) copies.emplace(device, static_cast<std::size_t>(size));
    const graph& g = plan->whole();
    for (std::size_t k = 0; k < at.size(); ++k)
      (k < g.inputs.size() ? inputs : outputs).push_back(behind(copies->data(), at[k]));
  }

  /// Calls `use` with the lease of the default stream, whose arguments are zeros, when everything has run once.
  template <class Use>
  std::vector<double> on_zeros(const Use& use) {
    check_owner();
    const std::lock_guard hold(copying);
    std::vector<void*> inputs, outputs;
    make_copies(inputs, outputs);
    std::int64_t size = 0;
    places_of_copies(size);
    device.fill(copies->get(), 0, static_cast<std::size_t>(size));
    const std::lock_guard lock(mutex);
    lease& here = lease_of(nullptr);
    fill(here, inputs, outputs);
    compile(here);
    start_all(here, [](std::size_t) {});
    device.synchronize();
    return use(*this, here);
  }
};

TILEWRIGHT_INLINE device_program::device_program(std::shared_ptr<const executable> plan, int device)
    : state_(std::make_unique<state>(std::move(plan), device)) {}
TILEWRIGHT_INLINE device_program::~device_program() = default;

TILEWRIGHT_INLINE void device_program::start(const std::vector<void*>& inputs,
                                             const std::vector<void*>& outputs,
                                             void* stream) const {
  state_->check_owner();
  state_->start(inputs, outputs, static_cast<backend::cuda::stream_ref>(stream));
}

TILEWRIGHT_INLINE void device_program::run(const std::vector<const void*>& inputs,
                                           const std::vector<void*>& outputs) const {
  state& s = *state_;
  s.check_owner();
  const graph& g = s.plan->whole();
  for (const launch& l : s.plan->launches())  // before anything is read beyond an edge
    for (const launch::index_check& c : l.checks)
      if (l.slots[c.param].where == launch::slot::input)
        if (const auto i = c.bound.outside(inputs[l.slots[c.param].number], c.type))
          state::fail_index(l, c, *i);
  const std::lock_guard lock(s.copying);
  std::vector<void*> there_in, there_out;
  s.make_copies(there_in, there_out);
  const auto address = [](void* at) { return reinterpret_cast<backend::cuda::device_pointer>(at); };
  const auto size = [&](value_id v) { return static_cast<std::size_t>(g.type_of(v).bytes()); };
  for (std::size_t k = 0; k < inputs.size(); ++k)
    s.device.copy_in(address(there_in[k]), inputs[k], size(g.inputs[k]));
  s.start(there_in, there_out, nullptr);
  s.device.synchronize();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    s.device.copy_out(outputs[k], address(there_out[k]), size(g.outputs[k]));
}

TILEWRIGHT_INLINE void device_program::warm() const {
  state& s = *state_;
  s.check_owner();
  const std::lock_guard copying(s.copying);
  std::vector<void*> inputs, outputs;
  s.make_copies(inputs, outputs);
  const std::lock_guard lock(s.mutex);
  state::lease& here = s.lease_of(nullptr);
  s.fill(here, inputs, outputs);
  s.compile(here);
}

TILEWRIGHT_INLINE std::vector<double> device_program::measure(int runs) const {
  return state_->on_zeros([&](state& s, state::lease& here) {
    const std::size_t n = s.plan->launches().size();
    std::vector<double> out(n, std::numeric_limits<double>::infinity());
    std::list<backend::cuda::device_event> points;  // before each launch, and behind the last one
    for (std::size_t k = 0; k <= n; ++k) points.emplace_back(s.device);
    for (int run = 0; run < runs; ++run) {
      auto next = points.begin();
      s.start_all(here, [&](std::size_t) { (next++)->record(); });
      next->record();
      s.device.synchronize();
      auto point = points.begin();
      for (std::size_t k = 0; k < n; ++k) {
        const backend::cuda::device_event& from = *point++;
        out[k] = std::min(out[k], point->seconds_since(from));
      }
    }
    return out;
  });
}

TILEWRIGHT_INLINE std::vector<double> device_program::time(int runs) const {
  constexpr int in_a_row = 10;
  return state_->on_zeros([&](state& s, state::lease& here) {
    std::vector<double> out;
    backend::cuda::device_event begin(s.device), end(s.device);
    for (int run = 0; run < runs; ++run) {
      begin.record();
      for (int k = 0; k < in_a_row; ++k) s.start_all(here, [](std::size_t) {});
      end.record();
      s.device.synchronize();
      out.push_back(end.seconds_since(begin) / in_a_row);
    }
    return out;
  });
}

TILEWRIGHT_INLINE const executable& device_program::plan() const noexcept { return *state_->plan; }
TILEWRIGHT_INLINE const std::string& device_program::device_name() const noexcept {
  return state_->device.name();
}

}  // namespace tilewright::network
