// The copy engine of emulated kernels: boxes of tensors that land at any time after they were asked for, in any order,
// and barriers that count arrivals and bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/impl/backend/cuda/emulator.hpp>

namespace tilewright::backend::cuda::detail {

TILEWRIGHT_INLINE void emulation::begin_boxes(std::size_t threads) {
  arrivals_.clear();
  ended_.clear();
  boxes_.clear();
  landed_.clear();
  for (std::size_t t = 0; t < threads; ++t) {
    fiber& f = fibers_[t];
    f.known = {};
    f.stores.clear();
  }
}

TILEWRIGHT_INLINE void emulation::end_thread() {
  for (const std::vector<pending_box>& group : fibers_[current_].stores)
    if (!group.empty()) fail("ends while a store of a box still reads shared memory");
}

TILEWRIGHT_INLINE std::size_t emulation::shared_offset(const host_access& a, long long at) const {
  return static_cast<std::size_t>(static_cast<const std::byte*>(a.base) - shared_.base) +
         static_cast<std::size_t>(at) * a.element;
}

// ---- arrivals ---------------------------------------------------------------------------------------

TILEWRIGHT_INLINE counted_arrivals& emulation::arrivals_at(const host_access& a, long long at,
                                                           const char* verb) {
  check_bounds(a, at, 1, verb);
  const auto found = arrivals_.find(shared_offset(a, at));
  if (found == arrivals_.end())
    fail(std::string(verb) + " " + element(a, at) + ", where no arrivals are counted");
  counted_arrivals& out = found->second;
  const auto me = static_cast<std::int32_t>(current_);
  if (is_concurrent(out.maker, out.made))
    fail(std::string(verb) + " " + element(a, at) + ", which thread " + std::to_string(out.maker) +
         " initializes without a barrier between");
  if (out.maker != me) out.used = phase_;
  return out;
}

TILEWRIGHT_INLINE void emulation::init_arrivals(const host_access& a, long long at, int count) {
  check_bounds(a, at, 1, "initializes");
  if (!counts_) read_at_.assign((shared_.shadows.size() / read_unit + 1) * threads_, 0);
  counts_ = true;
  const std::size_t place = shared_offset(a, at);
  if (arrivals_.count(place))
    fail("initializes " + element(a, at) + ", where arrivals are counted already");
  const std::uint64_t nothing = 0;
  note_write(a, at, 1, &nothing);
  // what it holds is nobody's business
  each_shadow(a, at, 1, [](shadow& s) { s.written = false; });
  counted_arrivals c;
  c.count = c.missing = count;
  c.phase = c.first = ended_[place];
  c.maker = static_cast<std::int32_t>(current_);
  c.made = phase_;
  arrivals_[place] = c;
}

TILEWRIGHT_INLINE void emulation::fence_arrivals() {
  for (auto& [place, c] : arrivals_)
    if (c.maker == static_cast<std::int32_t>(current_)) c.fenced = true;
}

TILEWRIGHT_INLINE void emulation::drop_arrivals(const host_access& a, long long at) {
  counted_arrivals& c = arrivals_at(a, at, "drops");
  if (c.missing != c.count || c.bytes != 0)
    fail("drops " + element(a, at) + " in the middle of a phase");
  const std::size_t place = shared_offset(a, at);
  for (const fiber& f : fibers_)
    if (f.state == state::at_phase && f.arrivals == place)
      fail("drops " + element(a, at) + ", where threads wait");
  if (c.used >= full_phase_)
    fail("drops " + element(a, at) + ", which another thread uses without a barrier between");
  ended_[place] = c.phase;
  arrivals_.erase(place);
}

TILEWRIGHT_INLINE void emulation::end_phase_if_complete(counted_arrivals& c) {
  if (c.missing != 0 || c.bytes != 0) return;
  c.missing = c.count;
  ++c.phase;
  c.ended.join(c.arrived);
}

TILEWRIGHT_INLINE void emulation::arrive(const host_access& a, long long at, int bytes) {
  counted_arrivals& c = arrivals_at(a, at, "arrives at");
  if (c.missing == 0)
    fail("arrives at " + element(a, at) + " more often than it counts in a phase");
  c.bytes += bytes;
  --c.missing;
  c.arrived.join(fibers_[current_].known);
  end_phase_if_complete(c);
}

TILEWRIGHT_INLINE bool emulation::has_ended(const fiber& f) const {
  const auto found = arrivals_.find(f.arrivals);
  if (found == arrivals_.end()) return false;
  const counted_arrivals& c = found->second;
  return static_cast<int>((c.phase - c.first) & 1) != f.parity;
}

TILEWRIGHT_INLINE void emulation::wait_phase(const host_access& a, long long at, int parity) {
  arrivals_at(a, at, "waits at");
  fiber& f = fibers_[current_];
  f.arrivals = shared_offset(a, at);
  f.parity = parity;
  if (parity != 0 && parity != 1)
    fail("waits at " + element(a, at) + " for a phase of parity " + std::to_string(parity));
  if (!has_ended(f)) wait(state::at_phase);
  const counted_arrivals& c = arrivals_.at(f.arrivals);
  f.known.join(c.ended);
  f.known.phases[f.arrivals] = c.phase;
}

TILEWRIGHT_INLINE bool emulation::release_phases(std::size_t threads) {
  bool any = false;
  for (std::size_t t = 0; t < threads; ++t)
    if (fibers_[t].state == state::at_phase && has_ended(fibers_[t])) {
      fibers_[t].state = state::ready;
      any = true;
    }
  return any;
}

TILEWRIGHT_INLINE std::string emulation::missing_phases(std::size_t threads) const {
  const auto waiting =
      std::count_if(fibers_.begin(), fibers_.begin() + static_cast<std::ptrdiff_t>(threads),
                    [](const fiber& f) { return f.state == state::at_phase; });
  const auto poor =
      std::count_if(fibers_.begin(), fibers_.begin() + static_cast<std::ptrdiff_t>(threads),
                    [](const fiber& f) { return f.state == state::at_registers; });
  const std::string rest =
      poor > 0 ? ", " + std::to_string(poor) + " for registers that nobody gives" : "";
  if (waiting == 0) return rest;
  std::string out = rest + ", " + std::to_string(waiting) + " for a phase that does not end";
  for (const auto& [place, c] : arrivals_)
    out += "; at byte " + std::to_string(place) + " of shared memory " +
           std::to_string(c.phase - c.first) + " phases have ended, " + std::to_string(c.missing) +
           " arrivals and " + std::to_string(c.bytes) + " bytes are missing";
  return out;
}

// ---- boxes ------------------------------------------------------------------------------------------

/// Whether the thread has waited for the copy that wrote it, or met one that has.
TILEWRIGHT_INLINE bool emulation::sees(const shadow& s) const {
  if (s.landing < 0) return true;
  const landed_box& box = landed_[static_cast<std::size_t>(s.landing)];
  const auto& seen = fibers_[current_].known.phases;
  const auto found = seen.find(box.arrivals);
  return found != seen.end() && found->second > box.phase;
}

/// Nobody writes what the engine is about to write or to read, or what it wrote without having waited for it.
TILEWRIGHT_INLINE void emulation::check_box_free(const shadow& s, const host_access& a,
                                                 long long at, const char* verb) {
  if (s.in_flight)
    fail(std::string(verb) + " " + element(a, at) + ", which a copy on its way writes");
  if (s.leaving > 0)
    fail(std::string(verb) + " " + element(a, at) + ", which a store on its way still reads");
  if (!sees(s))
    fail(std::string(verb) + " " + element(a, at) +
         " without having waited for the copy that wrote it");
}

/// f(element of the tensor or -1 outside of it, byte of shared memory) for each element of the box.
template <class F>
void emulation::each_element(const pending_box& p, const F& f) const {
  const target::tensor_box& what = *p.map->what;
  const std::size_t rank = what.box.size(), size = p.map->memory.element;
  std::array<std::int64_t, target::tensor_box::max_rank> i{};
  const std::size_t pieces = static_cast<std::size_t>(what.swizzle / 16);
  for (std::size_t linear = 0;; linear += size) {
    std::int64_t bytes_before = 0;
    bool inside = true;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t x = p.place[d] + i[d];
      inside = inside && x >= 0 && x < what.extents[d];
      bytes_before += x * (d == 0 ? static_cast<std::int64_t>(size) : what.strides[d - 1]);
    }
    std::size_t to = p.offset + linear;
    if (pieces > 0) to ^= (to >> 7 & (pieces - 1)) << 4;
    f(inside ? bytes_before / static_cast<std::int64_t>(size) : -1, to);
    std::size_t d = 0;
    while (d < rank && ++i[d] == what.box[d]) i[d++] = 0;
    if (d == rank) return;
  }
}

/// Where the box lies in shared memory, which it fits into.
TILEWRIGHT_INLINE std::size_t emulation::box_offset(const host_access& a, long long at,
                                                    const host_tensor& map, int rank,
                                                    const char* verb) {
  const target::tensor_box& what = *map.what;
  if (static_cast<std::size_t>(rank) != what.box.size())
    fail(std::string(verb) + " a box of " + std::to_string(what.box.size()) +
         " dimensions by an instruction of " + std::to_string(rank));
  const std::int64_t size = what.bytes_of_box();
  if (a.element != map.memory.element)
    fail(std::string(verb) + " elements of another size than those of " + a.name);
  check_bounds(a, at, 1, verb);
  check_bounds(a, at + size / static_cast<std::int64_t>(a.element) - 1, 1, verb);
  const std::size_t out = shared_offset(a, at);
  if (out % static_cast<std::size_t>(what.alignment()) != 0)
    fail(std::string(verb) + " a box at " + element(a, at) + ", which is no multiple of " +
         std::to_string(what.alignment()) + " bytes");
  return out;
}

TILEWRIGHT_INLINE void emulation::copy_box(const host_access& to, long long at,
                                           const host_tensor& map, const host_access& a,
                                           long long there, const int* place, int rank) {
  counted_arrivals& c = arrivals_at(a, there, "counts bytes at");
  if (!c.fenced)
    fail("counts bytes at " + element(a, there) +
         ", which was initialized without a fence for the copy engine");
  pending_box p{&map, {}, box_offset(to, at, map, rank, "copies"), shared_offset(a, there)};
  std::copy(place, place + rank, p.place.begin());
  const auto me = static_cast<std::int32_t>(current_);
  each_element(p, [&](std::int64_t, std::size_t first) {
    for (std::size_t i = first; i < first + to.element; ++i) {
      shadow& s = shared_.shadows[i];
      check_box_free(s, to, at, "copies a box to");
      if (s.written && is_unfenced(s))
        fail("copies a box to " + element(to, at) + ", which thread " + std::to_string(s.writer) +
             " stored to without a fence for the copy engine");
      if (s.landing < 0 && s.written && is_concurrent(s.writer, s.write_phase))
        fail("copies a box to " + element(to, at) + ", which thread " + std::to_string(s.writer) +
             " writes without a barrier between");
      if (i % read_unit == 0 || i == p.offset) check_reads(i, to, at);
      s.in_flight = true;
      s.written = false;
      s.landing = -1;
      s.write_block = block_number_;
      s.write_phase = phase_;
      s.writer = me;
      shared_.base[i] = std::byte{0xff};
    }
  });
  boxes_.push_back(p);
}

TILEWRIGHT_INLINE bool emulation::land_one() {
  if (boxes_.empty()) return false;
  const std::size_t which = random_.below(boxes_.size());
  const pending_box p = boxes_[which];
  boxes_.erase(boxes_.begin() + static_cast<std::ptrdiff_t>(which));
  const auto refuse = [&](const std::string& what) {
    if (failure_.empty()) failure_ = "emulated kernel " + symbol_ + ": " + what + here();
  };
  const auto found = arrivals_.find(p.arrivals);
  if (found == arrivals_.end()) {
    refuse("a box lands whose arrivals are no longer counted");
    return true;
  }
  counted_arrivals& c = found->second;
  const host_access& from = p.map->memory;
  auto& region = *const_cast<memory_region*>(static_cast<const memory_region*>(from.region));
  landed_.push_back({p.arrivals, c.phase});
  ++time_;
  each_element(p, [&](std::int64_t source, std::size_t to) {
    std::byte* const target = shared_.base + to;
    if (source < 0) {
      std::memset(target, 0, from.element);
    } else if (static_cast<std::size_t>(source) >= region.shadows.size()) {
      refuse("a box of " + std::string(from.name) + " reaches beyond its " +
             std::to_string(from.elements) + " elements");
    } else {
      shadow& s = region.shadows[static_cast<std::size_t>(source)];
      if (!s.written || s.write_block != shadow::nobody)
        refuse("a box of " + element(from, source) + " is copied, which " +
               (s.written ? "the kernel writes" : "nothing wrote"));
      if (s.read_block == shadow::nobody) s.read_block = block_number_;
      if (s.read_block != block_number_) s.read_block = shadow::several;
      std::memcpy(target,
                  static_cast<const std::byte*>(from.base) +
                      static_cast<std::size_t>(source) * from.element,
                  from.element);
    }
    for (std::size_t i = to; i < to + from.element; ++i) {
      shadow& s = shared_.shadows[i];
      s.in_flight = false;
      s.written = true;
      s.write_time = time_;
      s.landing = static_cast<std::int32_t>(landed_.size()) - 1;
    }
  });
  c.bytes -= p.map->what->bytes_of_box();
  end_phase_if_complete(c);
  return true;
}

// ---- stores -----------------------------------------------------------------------------------------

TILEWRIGHT_INLINE void emulation::store_box(const host_tensor& map, const host_access& from,
                                            long long at, const int* place, int rank) {
  pending_box p{&map, {}, box_offset(from, at, map, rank, "stores"), 0};
  std::copy(place, place + rank, p.place.begin());
  each_element(p, [&](std::int64_t, std::size_t first) {
    for (std::size_t i = first; i < first + from.element; ++i) {
      shadow& s = shared_.shadows[i];
      if (s.in_flight || !s.written)
        fail("stores a box from " + element(from, at) + ", which nothing wrote");
      if (!sees(s))
        fail("stores a box from " + element(from, at) +
             " without having waited for the copy that wrote it");
      if (s.landing < 0 && is_concurrent(s.writer, s.write_phase))
        fail("stores a box from " + element(from, at) + ", which thread " +
             std::to_string(s.writer) + " writes without a barrier between");
      if (is_unfenced(s))
        fail("stores a box from " + element(from, at) + ", which thread " +
             std::to_string(s.writer) + " stored to without a fence for the copy engine");
      ++s.leaving;
    }
  });
  fiber& f = fibers_[current_];
  if (f.stores.empty()) f.stores.emplace_back();
  f.stores.back().push_back(p);
}

/// The engine reads shared memory as late as it may.
TILEWRIGHT_INLINE void emulation::store_group(std::vector<pending_box>& group) {
  for (const pending_box& p : group) {
    const host_access& to = p.map->memory;
    each_element(p, [&](std::int64_t target, std::size_t from) {
      for (std::size_t i = from; i < from + to.element; ++i) --shared_.shadows[i].leaving;
      if (target >= 0) note_write(to, target, 1, shared_.base + from);
    });
  }
  group.clear();
}

TILEWRIGHT_INLINE void emulation::wait_stores(std::size_t pending, bool) {
  fiber& f = fibers_[current_];
  // the open group is none of those that a wait counts
  while (f.stores.size() > pending + 1) {
    store_group(f.stores.front());
    f.stores.erase(f.stores.begin());
  }
}

// ---- roles ------------------------------------------------------------------------------------------

/// Ends a barrier of some of the block's threads that all of these have come to. @returns whether there was one
TILEWRIGHT_INLINE bool emulation::release_barrier_of(std::size_t threads) {
  std::array<std::size_t, 16> waiting{}, wanted{};
  for (std::size_t t = 0; t < threads; ++t) {
    const fiber& f = fibers_[t];
    if (f.state != state::at_barrier || f.barrier == 0) continue;
    const auto number = static_cast<std::size_t>(f.barrier);
    ++waiting[number];
    wanted[number] = f.barrier_threads;
  }
  bool any = false;
  for (std::size_t n = 1; n < waiting.size(); ++n)
    if (waiting[n] > 0 && waiting[n] == wanted[n]) {
      end_barrier(threads, static_cast<int>(n));
      any = true;
    }
  return any;
}

/// A thread knows what it has read itself.
TILEWRIGHT_INLINE void emulation::note_shared_read(std::size_t offset) {
  std::vector<std::uint64_t>& mine = fibers_[current_].known.reads;
  mine.resize(threads_);
  mine[current_] = read_at_[offset / read_unit * threads_ + current_] = ++time_;
}

/// Behind a wait for products, where all of the warp have come.
TILEWRIGHT_INLINE void emulation::products_read() {
  if (!counts_) return;
  constexpr std::size_t lanes = 32;
  std::vector<std::uint64_t>& mine = fibers_[current_].known.reads;
  mine.resize(threads_);
  for (std::size_t t = current_ / lanes * lanes, n = 0; n < lanes && t < threads_; ++t, ++n)
    if (const auto& other = fibers_[t].known.reads; t < other.size())
      mine[t] = std::max(mine[t], other[t]);
}

/// Who is about to have a box written knows of each thread that has read there that it has.
TILEWRIGHT_INLINE void emulation::check_reads(std::size_t offset, const host_access& a,
                                              long long at) {
  const std::vector<std::uint64_t>& known = fibers_[current_].known.reads;
  for (std::size_t t = 0; t < threads_; ++t)
    if (read_at_[offset / read_unit * threads_ + t] > (t < known.size() ? known[t] : 0))
      fail("copies a box to " + element(a, at) +
           ", which another thread reads without a barrier or an arrival between, thread " +
           std::to_string(t));
}

TILEWRIGHT_INLINE void emulation::change_registers(int count, bool more) {
  fiber& f = fibers_[current_];
  if (more ? count < f.registers : count > f.registers)
    fail("has " + std::to_string(f.registers) + " registers, and is to " +
         (more ? "get as many as " : "keep as many as ") + std::to_string(count));
  f.wanted = count;
  while (free_registers_ < count - f.registers) wait(state::at_registers);
  free_registers_ -= count - f.registers;
  f.registers = count;
}

TILEWRIGHT_INLINE bool emulation::release_registers(std::size_t threads) {
  bool any = false;
  for (std::size_t t = 0; t < threads; ++t) {
    fiber& f = fibers_[t];
    if (f.state != state::at_registers || free_registers_ < f.wanted - f.registers) continue;
    f.state = state::ready;
    any = true;
  }
  return any;
}

}  // namespace tilewright::backend::cuda::detail
