#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>
#include <utility>

#include <dlfcn.h>

#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/backend/cuda/prelude.hpp>
#include <tilewright/impl/backend/cuda/emulator.hpp>
#include <tilewright/impl/backend/cuda/host_compiler.hpp>
#include <tilewright/impl/backend/cuda/text.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::cuda::detail {

TILEWRIGHT_INLINE thread_local emulation* emulation::active_ = nullptr;

inline constexpr std::size_t fiber_stack_bytes = 256 << 10;

TILEWRIGHT_INLINE void memory_region::forget_accesses(bool written_too) {
  for (shadow& s : shadows) {
    const bool written = s.written && !written_too;
    s = shadow{};
    s.written = written;
  }
}

TILEWRIGHT_INLINE memory_region& emulation::add_region(void* data, std::size_t bytes,
                                                       std::size_t unit, bool written) {
  regions_.push_back(std::make_unique<memory_region>());
  memory_region& out = *regions_.back();
  out.base = static_cast<std::byte*>(data);
  out.unit_bits = std::countr_zero(unit);
  out.shadows.resize(bytes / unit);
  for (shadow& s : out.shadows) s.written = written;
  return out;
}

// ---- fibers ---------------------------------------------------------------------------------------

TILEWRIGHT_INLINE void emulation::enter() {
  emulation& e = *active_;
  e.entry_(e.arguments_);
  e.end_thread();
  e.wait(state::done);
}

TILEWRIGHT_INLINE void emulation::resume(std::size_t thread) {
  current_ = thread;
  *place_ = &fibers_[thread].place;
  ::swapcontext(&scheduler_, &fibers_[thread].context);
}

/// Gives the turn back; returns when the thread is ready again.
TILEWRIGHT_INLINE void emulation::wait(state s) {
  fiber& f = fibers_[current_];
  f.state = s;
  ::swapcontext(&f.context, &scheduler_);
}

TILEWRIGHT_INLINE void emulation::leave_failed() {
  ::swapcontext(&fibers_[current_].context, &scheduler_);
  std::abort();  // a fiber that failed is never resumed
}

TILEWRIGHT_INLINE void emulation::fail(const std::string& what) {
  if (failure_.empty()) failure_ = "emulated kernel " + symbol_ + ": " + what + here();
  leave_failed();
}

TILEWRIGHT_INLINE std::string emulation::here() const {
  const host_location& p = fibers_[current_].place;
  const auto text = [](const host_index& i) {
    return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) +
           ")";
  };
  return ", in block " + text(p.block) + " thread " + text(p.thread);
}

TILEWRIGHT_INLINE void emulation::launch(const std::string& symbol,
                                         void (*entry)(const host_argument*), host_location** place,
                                         const std::vector<host_argument>& arguments,
                                         const std::array<std::uint32_t, 3>& grid,
                                         const std::array<std::uint32_t, 3>& block,
                                         std::size_t shared_bytes) {
  symbol_ = symbol;
  entry_ = entry;
  place_ = place;
  arguments_ = arguments.data();
  block_shape_ = block;
  const std::size_t threads = std::size_t{block[0]} * block[1] * block[2];
  if (fibers_.size() < threads) fibers_.resize(threads);
  for (std::size_t t = 0; t < threads; ++t)
    if (!fibers_[t].stack) fibers_[t].stack.reset(new std::byte[fiber_stack_bytes]);
  // aligned as kernels ask the device for at most
  constexpr std::size_t alignment = 1024;
  shared_bytes_.assign(shared_bytes + alignment, std::byte{0xff});
  const auto address = reinterpret_cast<std::uintptr_t>(shared_bytes_.data());
  shared_.base = shared_bytes_.data() + (alignment - address % alignment) % alignment;
  shared_.of_block = true;
  shared_.shadows.assign(shared_bytes, shadow{});
  std::vector<std::uint64_t> order(std::size_t{grid[0]} * grid[1] * grid[2]);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
  emulation* const before = std::exchange(active_, this);
  phase_ = 0;
  for (const std::uint64_t number : order) {
    block_number_ = static_cast<std::int32_t>(number);
    const auto x = static_cast<int>(number % grid[0]),
               y = static_cast<int>(number / grid[0] % grid[1]),
               z = static_cast<int>(number / grid[0] / grid[1]);
    run_block({x, y, z}, threads);
    if (!failure_.empty()) break;
  }
  active_ = before;
  if (!failure_.empty()) throw error(failure_);
  for (const auto& r : regions_) r->forget_accesses(false);
}

TILEWRIGHT_INLINE void emulation::run_block(const host_index& block, std::size_t threads) {
  full_phase_ = ++phase_;
  free_registers_ = 0;
  counts_ = false;
  threads_ = threads;
  shared_.forget_accesses(true);
  std::fill(shared_bytes_.begin(), shared_bytes_.end(), std::byte{0xff});
  for (std::size_t t = 0; t < threads; ++t) {
    fiber& f = fibers_[t];
    const auto n = static_cast<unsigned>(t);
    f.place = {block,
               {static_cast<int>(n % block_shape_[0]),
                static_cast<int>(n / block_shape_[0] % block_shape_[1]),
                static_cast<int>(n / block_shape_[0] / block_shape_[1])},
               static_cast<int>(n)};
    f.state = state::ready;
    f.copies.clear();
    f.products.clear();
    f.fence_time = 0;
    f.met = 0;
    f.registers = registers_at_start(threads);
    ::getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = fiber_stack_bytes;
    f.context.uc_link = &scheduler_;
    ::makecontext(&f.context, &emulation::enter, 0);
  }
  begin_boxes(threads);
  std::vector<std::size_t> ready;
  for (;;) {
    ready.clear();
    bool all_done = true;
    if (!boxes_.empty() && random_.below(4) == 0) land_one();
    if (!arrivals_.empty()) release_phases(threads);
    if (!failure_.empty()) return;
    for (std::size_t t = 0; t < threads; ++t) {
      all_done = all_done && fibers_[t].state == state::done;
      if (fibers_[t].state == state::ready) ready.push_back(t);
    }
    if (all_done) {
      if (!boxes_.empty())
        failure_ =
            "emulated kernel " + symbol_ + ": the block ends while a copy is on its way" + here();
      return;
    }
    if (ready.empty() && !release_meetings(threads) && !release_barrier_of(threads) &&
        !release_registers(threads)) {
      // a barrier may end before or after what is on its way lands
      const bool all_wait =
          std::all_of(fibers_.begin(), fibers_.begin() + static_cast<std::ptrdiff_t>(threads),
                      [](const fiber& f) { return f.state == state::at_barrier; });
      const bool lands = !boxes_.empty() && !(all_wait && random_.below(2) == 0);
      if (!(lands ? land_one() : release_barrier(threads))) return;
    }
    for (std::size_t i = ready.size(); i > 1; --i) std::swap(ready[i - 1], ready[random_.below(i)]);
    for (const std::size_t t : ready) {
      resume(t);
      if (!boxes_.empty() && failure_.empty() && random_.below(8) == 0) land_one();
      if (!failure_.empty()) return;
    }
  }
}

/// Waits until all threads of the group, a power of two of them side by side, have come to the same
/// meeting.
/// @returns what they brought, one after the other; it stays until the thread's next meeting
TILEWRIGHT_INLINE const void* emulation::meet(const char* what, int detail, const void* mine,
                                              std::size_t bytes, int group) {
  fiber& f = fibers_[current_];
  f.what = what;
  f.detail = detail;
  f.mine = mine;
  f.bytes = bytes;
  f.group = group;
  wait(state::at_meeting);
  return f.brought->data();
}

/// Ends the meetings that all of a group have come to.
/// @returns whether there was one
TILEWRIGHT_INLINE bool emulation::release_meetings(std::size_t threads) {
  bool any = false;
  for (std::size_t t = 0; t < threads; ++t) {
    const fiber& first = fibers_[t];
    if (first.state != state::at_meeting) continue;
    const auto group = static_cast<std::size_t>(first.group);
    const std::size_t begin = t / group * group;
    bool complete = begin + group <= threads;
    for (std::size_t u = begin; complete && u < begin + group; ++u) {
      const fiber& other = fibers_[u];
      complete = other.state == state::at_meeting && other.detail == first.detail &&
                 other.group == first.group && other.bytes == first.bytes &&
                 std::strcmp(other.what, first.what) == 0;
    }
    if (!complete) continue;
    any = true;
    auto brought = std::make_shared<std::vector<std::byte>>(group * first.bytes);
    for (std::size_t u = 0; u < group; ++u)
      std::memcpy(brought->data() + u * first.bytes, fibers_[begin + u].mine, first.bytes);
    for (std::size_t u = begin; u < begin + group; ++u) {
      fibers_[u].brought = brought;
      fibers_[u].state = state::ready;
    }
  }
  return any;
}

TILEWRIGHT_INLINE bool emulation::release_barrier(std::size_t threads) {
  std::size_t waiting = 0;
  for (std::size_t t = 0; t < threads; ++t) {
    if (fibers_[t].state == state::at_barrier && fibers_[t].barrier == 0) {
      ++waiting;
      current_ = t;
    }
  }
  if (waiting < threads) {
    const bool exchange =
        std::any_of(fibers_.begin(), fibers_.begin() + static_cast<std::ptrdiff_t>(threads),
                    [](const fiber& f) { return f.state == state::at_meeting; });
    failure_ = "emulated kernel " + symbol_ + ": no thread can go on; " + std::to_string(waiting) +
               " of " + std::to_string(threads) + " threads wait at a barrier" +
               (exchange ? ", others in an exchange that not all of their group reach" : "") +
               missing_phases(threads) + here();
    return false;
  }
  full_phase_ = phase_ + 1;
  end_barrier(threads, 0);
  return true;
}

/// What one of those who wait at the barrier knows, all of them know now.
TILEWRIGHT_INLINE void emulation::end_barrier(std::size_t threads, int number) {
  ++phase_;
  knowledge all;
  const auto each = [&](const auto& f) {
    for (std::size_t t = 0; t < threads; ++t)
      if (fibers_[t].state == state::at_barrier && fibers_[t].barrier == number) f(fibers_[t]);
  };
  if (counts_) each([&](const fiber& f) { all.join(f.known); });
  each([&](fiber& f) {
    if (counts_) f.known = all;
    if (number != 0) f.met = phase_;
  });
  each([](fiber& f) { f.state = state::ready; });
}

TILEWRIGHT_INLINE const host_runtime& emulation::runtime() {
  static const host_runtime table{
      [](const host_access* a, long long at, std::size_t count) {
        active_->note_read(*a, at, count);
      },
      [](const host_access* a, long long at, std::size_t count, const void* value) {
        active_->note_write(*a, at, count, value);
      },
      [](const host_access* a, long long at) { active_->note_addition(*a, at); },
      [] {
        active_->fibers_[active_->current_].barrier = 0;
        active_->wait(state::at_barrier);
      },
      [](const char* what, int detail, const void* mine, std::size_t bytes, int group) {
        return active_->meet(what, detail, mine, bytes, group);
      },
      [](const host_access* to, long long at, const host_access* from, long long there,
         std::size_t count) { active_->start_copy(*to, at, from, there, count); },
      [] {
        auto& copies = active_->fibers_[active_->current_].copies;
        if (copies.empty()) copies.emplace_back();
        copies.emplace_back();
      },
      [](int pending) { active_->wait_copies(pending); },
      [](int steps) {
        ++active_->traffic_.matrices;
        active_->traffic_.steps += steps;
      },
      [](const void** region, const char* name, std::size_t offset, std::size_t bytes) -> void* {
        emulation& e = *active_;
        if (offset + bytes > e.shared_.shadows.size())
          e.fail(std::string(name) + " lies behind the end of shared memory");
        *region = &e.shared_;
        return e.shared_.base + offset;
      },
      [](const char* name, long long at, std::size_t count, int state) {
        const std::string place = std::string(name) + "[" + std::to_string(at) + "]";
        active_->fail(state == 2   ? "touches " + place + ", which a product is adding to"
                      : state == 1 ? "reads " + place + ", which nothing wrote"
                                   : "touches " + place + " out of bounds, the buffer has " +
                                         std::to_string(count) + " elements");
      },
      [](const host_access* a, long long at, std::size_t count, unsigned long before) {
        return active_->read_product(*a, at, count, before);
      },
      [](void (*finish)(const void*), const void* what, std::size_t bytes) {
        auto& products = active_->fibers_[active_->current_].products;
        if (products.empty()) products.emplace_back();
        const auto* const first = static_cast<const std::byte*>(what);
        products.back().push_back({finish, {first, first + bytes}});
      },
      [] {
        auto& products = active_->fibers_[active_->current_].products;
        if (products.empty()) products.emplace_back();
        products.emplace_back();
      },
      [](int pending) { active_->wait_products(pending); },
      [](const char* what) { active_->fail(what); },
      [](const host_access* a, long long at, int count) { active_->init_arrivals(*a, at, count); },
      [] { active_->fence_arrivals(); },
      [](const host_access* a, long long at) { active_->drop_arrivals(*a, at); },
      [](const host_access* a, long long at, int bytes) { active_->arrive(*a, at, bytes); },
      [](const host_access* a, long long at, int parity) { active_->wait_phase(*a, at, parity); },
      [] { active_->fence_async(); },
      [](unsigned below) { return static_cast<unsigned>(active_->random_.below(below)); },
      [](const host_access* to, long long at, const void* map, const host_access* a,
         long long there, const int* place, int rank) {
        active_->copy_box(*to, at, *static_cast<const host_tensor*>(map), *a, there, place, rank);
      },
      [](const void* map, const host_access* from, long long at, const int* place, int rank) {
        active_->store_box(*static_cast<const host_tensor*>(map), *from, at, place, rank);
      },
      [] { active_->fibers_[active_->current_].stores.emplace_back(); },
      [](int pending, int whole) {
        active_->wait_stores(static_cast<std::size_t>(pending), whole != 0);
      },
      [](int number, int count) {
        fiber& f = active_->fibers_[active_->current_];
        f.barrier = number;
        f.barrier_threads = static_cast<std::size_t>(count);
        active_->wait(state::at_barrier);
      },
      [](int count, int more) { active_->change_registers(count, more != 0); },
      [] { active_->products_read(); }};
  return table;
}

/// What makes a kernel callable with an array of arguments.
inline std::string trampoline(const kernel& k) {
  std::string out = "extern \"C\" void " + k.start.symbol +
                    "_emulated(const tw_argument* tw_arguments) {\n  " + k.start.symbol + "(";
  for (std::size_t i = 0; i < k.parameters.size(); ++i) {
    const kernel_parameter& p = k.parameters[i];
    const std::string at = "tw_arguments[" + std::to_string(i) + "]";
    out += i ? ", " : "";
    if (k.start.arguments[i].from == launch_argument::kind::tensor_map) {
      out += "tw_tensor_map{" + at + ".data}";
      continue;
    }
    out += p.buffer ? "tw_global<" + std::string(p.written ? "" : "const ") + stored_type(p.type) +
                          ">(" + at + ", \"" + p.name + "\")"
                    : "*static_cast<const " + stored_type(p.type) + "*>(" + at + ".data)";
  }
  return out + ");\n}\n";
}

}  // namespace tilewright::backend::cuda::detail

namespace tilewright::backend::cuda {

struct emulator::loaded {
  program what;
  void* library = nullptr;
  std::vector<void (*)(const detail::host_argument*)> entries;
  detail::host_location** place = nullptr;

  ~loaded() {
    if (library) ::dlclose(library);
  }
};

TILEWRIGHT_INLINE std::string why_no_emulator() {
  return detail::host_compiler().empty()
             ? "there is no c++, g++ or clang++ on PATH, and TILEWRIGHT_CXX is not set"
             : std::string();
}

TILEWRIGHT_INLINE emulator::emulator(const program& p) : loaded_(std::make_unique<loaded>()) {
  loaded_->what = p;
  std::string text = host_prelude(p.text) + p.text;
  for (const kernel& k : p.kernels) text += detail::trampoline(k);
  loaded_->library = detail::compile_on_host(text);
  const auto symbol = [&](const std::string& name) {
    void* const out = ::dlsym(loaded_->library, name.c_str());
    if (!out) throw internal_error("emulated kernels have no symbol " + name);
    return out;
  };
  loaded_->place = static_cast<detail::host_location**>(symbol("tw_place"));
  *static_cast<const detail::host_runtime**>(symbol("tw_host")) = &detail::emulation::runtime();
  for (const kernel& k : p.kernels)
    loaded_->entries.push_back(reinterpret_cast<void (*)(const detail::host_argument*)>(
        symbol(k.start.symbol + "_emulated")));
}

TILEWRIGHT_INLINE emulator::~emulator() = default;
TILEWRIGHT_INLINE emulator::emulator(emulator&&) noexcept = default;
TILEWRIGHT_INLINE emulator& emulator::operator=(emulator&&) noexcept = default;

TILEWRIGHT_INLINE matrix_traffic emulator::run(const std::vector<emulated_argument>& arguments,
                                               const std::vector<std::int64_t>& strides,
                                               std::uint64_t seed) const {
  const program& p = loaded_->what;
  detail::emulation run(seed);
  std::vector<std::byte> workspace(static_cast<std::size_t>(p.workspace_bytes) + 256,
                                   std::byte{0xff});
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
  std::byte* const base = workspace.data() + (256 - address % 256) % 256;
  std::map<std::pair<void*, std::size_t>, detail::memory_region*> known;
  std::deque<detail::host_tensor> tensors;
  for (std::size_t k = 0; k < p.kernels.size(); ++k) {
    const launch& start = p.kernels[k].start;
    std::vector<detail::host_argument> values;
    for (std::size_t i = 0; i < start.arguments.size(); ++i) {
      const bool mapped = start.arguments[i].from == launch_argument::kind::tensor_map;
      const tensor_map* map =
          mapped ? &start.tensor_maps[static_cast<std::size_t>(start.arguments[i].index)] : nullptr;
      const launch_argument& a =
          map ? launch_argument{map->from, 8, map->index} : start.arguments[i];
      const kernel_parameter& q = p.kernels[k].parameters[i];
      const auto index = static_cast<std::size_t>(a.index);
      const bool of_call =
          a.from == launch_argument::kind::buffer || a.from == launch_argument::kind::scalar;
      if ((of_call && index >= arguments.size()) ||
          (a.from == launch_argument::kind::stride && index >= strides.size()))
        throw argument_error("kernel " + start.symbol + " needs argument " + std::to_string(index) +
                             ", which the call does not have");
      switch (a.from) {
        case launch_argument::kind::scalar:
          values.push_back({arguments[index].data, nullptr, 1});
          continue;
        case launch_argument::kind::stride:
          values.push_back({const_cast<std::int64_t*>(&strides[index]), nullptr, 1});
          continue;
        default: break;
      }
      const bool inside = a.from == launch_argument::kind::workspace;
      void* const data = inside ? base + index : arguments[index].data;
      const auto elements =
          static_cast<std::size_t>(inside ? q.elements : arguments[index].elements);
      const std::size_t size = static_cast<std::size_t>(bytes(q.type));
      detail::memory_region*& region = known[{data, elements * size}];
      if (!region) region = &run.add_region(data, elements * size, size, !inside);
      if (map) {
        tensors.push_back({&map->what, {region, q.name.c_str(), data, elements, size}});
        values.push_back({&tensors.back(), nullptr, 1});
      } else {
        values.push_back({data, region, elements});
      }
    }
    run.launch(start.symbol, loaded_->entries[k], loaded_->place, values, start.grid, start.block,
               static_cast<std::size_t>(start.shared_bytes));
  }
  return run.traffic();
}

}  // namespace tilewright::backend::cuda
