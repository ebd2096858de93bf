// Memory of emulated kernels: who reads, writes and adds where, and what of it a device would hide.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/impl/backend/cuda/emulator.hpp>

namespace tilewright::backend::cuda::detail {

TILEWRIGHT_INLINE bool emulation::is_concurrent(std::int32_t thread, std::uint32_t phase) const {
  if (thread == static_cast<std::int32_t>(current_) || phase < full_phase_) return false;
  const std::uint32_t mine = fibers_[current_].met;
  return phase >=
         (thread < 0 ? mine : std::min(mine, fibers_[static_cast<std::size_t>(thread)].met));
}

TILEWRIGHT_INLINE std::string emulation::element(const host_access& a, long long at) const {
  return std::string(a.name) + "[" + std::to_string(at) + "]";
}

TILEWRIGHT_INLINE void emulation::check_bounds(const host_access& a, long long at,
                                               std::size_t count, const char* verb) {
  if (at < 0 || static_cast<std::size_t>(at) + count > a.elements)
    fail(std::string(verb) + " " + element(a, at) + (count > 1 ? " and the next" : "") +
         " out of bounds, the buffer has " + std::to_string(a.elements) + " elements");
  const std::size_t width = count * a.element;
  const std::byte* address =
      static_cast<const std::byte*>(a.base) + static_cast<std::size_t>(at) * a.element;
  const auto& region = *static_cast<const memory_region*>(a.region);
  if (count > 1 && static_cast<std::size_t>(address - region.base) % width != 0)
    fail(std::string(verb) + " " + std::to_string(count) + " elements from " + element(a, at) +
         " on, which is no multiple of " + std::to_string(width) + " bytes");
}

TILEWRIGHT_INLINE void emulation::note_read(const host_access& a, long long at, std::size_t count) {
  check_bounds(a, at, count, "reads");
  auto& region = *const_cast<memory_region*>(static_cast<const memory_region*>(a.region));
  const auto me = static_cast<std::int32_t>(current_);
  const std::span<shadow> touched = region.shadows_of(a, at, count);
  if (region.of_block && counts_)
    note_shared_read(static_cast<std::size_t>(touched.data() - region.shadows.data()));
  for (shadow& s : touched) {
    if (s.in_flight) fail("reads " + element(a, at) + ", which a copy on its way writes");
    if (!s.written) fail("reads " + element(a, at) + ", which nothing wrote");
    if (!sees(s))
      fail("reads " + element(a, at) + " without having waited for the copy that wrote it");
    if (!region.of_block && s.write_block != shadow::nobody && s.write_block != block_number_)
      fail("reads " + element(a, at) + ", which another block writes");
    if (s.landing < 0 && s.write_block == block_number_ && is_concurrent(s.writer, s.write_phase))
      fail("reads " + element(a, at) + ", which thread " + std::to_string(s.writer) +
           " writes without a barrier between");
    check_additions(region, s, a, at, "reads");
    if (s.read_block == block_number_ && s.reader != me && is_concurrent(s.reader, s.read_phase)) {
      s.reader = shadow::several;
      s.read_phase = phase_;
    } else {
      s.reader = me;
      if (s.read_block != block_number_ && s.read_block != shadow::nobody)
        s.read_block = shadow::several;
      if (s.read_block == shadow::nobody) s.read_block = block_number_;
      s.read_phase = phase_;
    }
  }
}

TILEWRIGHT_INLINE void emulation::note_write(const host_access& a, long long at, std::size_t count,
                                             const void* value) {
  check_bounds(a, at, count, "writes");
  auto& region = *const_cast<memory_region*>(static_cast<const memory_region*>(a.region));
  const auto me = static_cast<std::int32_t>(current_);
  ++time_;
  for (shadow& s : region.shadows_of(a, at, count)) {
    check_box_free(s, a, at, "writes");
    const bool other_block = s.write_block != shadow::nobody && s.write_block != block_number_;
    const bool other_thread =
        s.landing < 0 && s.write_block == block_number_ && is_concurrent(s.writer, s.write_phase);
    if (!region.of_block && other_block)
      fail("writes " + element(a, at) + ", which another block writes, too");
    if (other_thread)
      fail("writes " + element(a, at) + ", which thread " + std::to_string(s.writer) +
           " writes without a barrier between");
    if (!region.of_block && s.read_block != shadow::nobody && s.read_block != block_number_)
      fail("writes " + element(a, at) + ", which another block reads");
    if (s.read_block == block_number_ && is_concurrent(s.reader, s.read_phase))
      fail("writes " + element(a, at) + ", which another thread reads without a barrier between");
    check_additions(region, s, a, at, "writes");
    s.add_block = s.adder = shadow::nobody;
    s.write_block = block_number_;
    s.write_phase = phase_;
    s.writer = me;
    s.written = true;
    s.write_time = time_;
    s.landing = -1;
  }
  std::memcpy(static_cast<std::byte*>(a.base) + static_cast<std::size_t>(at) * a.element, value,
              count * a.element);
}

/// Whoever else adds to an element in this phase may do so before or after another access.
TILEWRIGHT_INLINE void emulation::check_additions(const memory_region& region, const shadow& s,
                                                  const host_access& a, long long at,
                                                  const char* verb) {
  if (s.add_block == shadow::nobody) return;
  if (!region.of_block && s.add_block != block_number_)
    fail(std::string(verb) + " " + element(a, at) + ", which another block adds to");
  if (s.add_block == block_number_ && is_concurrent(s.adder, s.add_phase))
    fail(std::string(verb) + " " + element(a, at) +
         ", which another thread adds to without a barrier between");
}

TILEWRIGHT_INLINE void emulation::note_addition(const host_access& a, long long at) {
  check_bounds(a, at, 1, "adds to");
  auto& region = *const_cast<memory_region*>(static_cast<const memory_region*>(a.region));
  const auto me = static_cast<std::int32_t>(current_);
  each_shadow(a, at, 1, [&](shadow& s) {
    if (!s.written) fail("adds to " + element(a, at) + ", which nothing wrote");
    for (const auto& [block, phase, thread, verb] :
         {std::tuple(s.write_block, s.write_phase, s.writer, "writes"),
          std::tuple(s.read_block, s.read_phase, s.reader, "reads")}) {
      if (!region.of_block && block != shadow::nobody && block != block_number_)
        fail("adds to " + element(a, at) + ", which another block " + verb);
      if (block == block_number_ && is_concurrent(thread, phase))
        fail("adds to " + element(a, at) + ", which another thread " + verb +
             " without a barrier between");
    }
    const bool same_phase = s.add_block == block_number_ && s.add_phase == phase_;
    if (s.add_block != shadow::nobody && s.add_block != block_number_)
      s.add_block = shadow::several;
    else
      s.add_block = block_number_;
    s.adder = same_phase && s.adder != me ? shadow::several : me;
    s.add_phase = phase_;
  });
}

template <class F>
void emulation::each_shadow(const host_access& a, long long at, std::size_t count, const F& f) {
  auto& region = *const_cast<memory_region*>(static_cast<const memory_region*>(a.region));
  for (shadow& s : region.shadows_of(a, at, count)) f(s);
}

/// From here until the thread has waited there is nothing to be read where the copy goes.
TILEWRIGHT_INLINE void emulation::start_copy(const host_access& to, long long at,
                                             const host_access* from, long long there,
                                             std::size_t count) {
  static constexpr std::array<std::byte, 16> zeros{};
  if (from) note_read(*from, there, count);
  const std::vector<std::byte> nothing(count * to.element, std::byte{0xff});
  note_write(to, at, count, nothing.data());
  each_shadow(to, at, count, [](shadow& s) { s.written = false; });
  fiber& f = fibers_[current_];
  if (f.copies.empty()) f.copies.emplace_back();
  const std::byte* const source = from ? static_cast<const std::byte*>(from->base) +
                                             static_cast<std::size_t>(there) * from->element
                                       : zeros.data();
  f.copies.back().push_back({to, at, source, count});
}

TILEWRIGHT_INLINE void emulation::wait_copies(int pending) {
  fiber& f = fibers_[current_];
  // the open group is none of those that a wait counts
  while (f.copies.size() > static_cast<std::size_t>(pending) + 1) {
    for (const pending_copy& c : f.copies.front()) {
      note_write(c.to, c.at, c.count, c.from);
      each_shadow(c.to, c.at, c.count, [](shadow& s) { s.written = true; });
    }
    f.copies.erase(f.copies.begin());
  }
}

TILEWRIGHT_INLINE void emulation::fence_async() { fibers_[current_].fence_time = ++time_; }

/// Whether a thread of this block stored to it and has not fenced that for tensor cores and the copy engine, which reach
/// shared memory by a way of their own.
TILEWRIGHT_INLINE bool emulation::is_unfenced(const shadow& s) const {
  return s.landing < 0 && s.write_block == block_number_ && s.write_time > 0 &&
         fibers_[static_cast<std::size_t>(s.writer)].fence_time <= s.write_time;
}

/// Tensor cores read by a way of their own, on which they see what was stored only if who stored it has fenced it.
TILEWRIGHT_INLINE unsigned long emulation::read_product(const host_access& a, long long at,
                                                        std::size_t count, unsigned long before) {
  check_bounds(a, at, count, "multiplies");
  each_shadow(a, at, count, [&](const shadow& s) {
    if (before > 0 && s.write_time > before)
      fail((s.landing < 0 ? "thread " + std::to_string(s.writer) : "a box") + " has overwritten " +
           element(a, at) + ", which a product reads that nobody has waited for");
    if (before == 0 && is_unfenced(s))
      fail("multiplies " + element(a, at) + ", which thread " + std::to_string(s.writer) +
           " writes without a fence for tensor cores behind it");
  });
  note_read(a, at, count);
  return static_cast<unsigned long>(time_);
}

TILEWRIGHT_INLINE void emulation::wait_products(int pending) {
  fiber& f = fibers_[current_];
  while (f.products.size() > static_cast<std::size_t>(pending) + 1) {
    const std::vector<pending_product> batch = std::move(f.products.front());
    f.products.erase(f.products.begin());
    for (const pending_product& p : batch) p.finish(p.what.data());
  }
}

}  // namespace tilewright::backend::cuda::detail
