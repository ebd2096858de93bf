// One run of emulated kernels: fibers, memory with a shadow, and what the text calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ucontext.h>

#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/support/random.hpp>
#include <tilewright/target/tensor_box.hpp>

namespace tilewright::backend::cuda::detail {

/// @name Mirrors of the structures in `host_prelude`
/// @{
struct host_index {
  int x, y, z;
};
struct host_location {
  host_index block, thread;
  int number;  // of the thread in its block
};
struct host_argument {
  void* data;
  const void* region;
  std::size_t elements;
};
struct host_access {
  const void* region;
  const char* name;
  void* base;
  std::size_t elements, element;
};
struct host_runtime {
  void (*read)(const host_access*, long long at, std::size_t count);
  void (*write)(const host_access*, long long at, std::size_t count, const void* value);
  void (*add)(const host_access*, long long at);
  void (*barrier)();
  const void* (*meet)(const char* what, int detail, const void* mine, std::size_t bytes, int group);
  void (*copy)(const host_access* to, long long at, const host_access* from, long long there,
               std::size_t count);
  void (*commit)();
  void (*wait_copies)(int pending);
  void (*matrix)(int steps);
  void* (*shared)(const void** region, const char* name, std::size_t offset, std::size_t bytes);
  void (*registers)(const char* name, long long at, std::size_t count, int state);
  unsigned long (*read_product)(const host_access*, long long at, std::size_t count,
                                unsigned long before);
  void (*start_product)(void (*finish)(const void*), const void* what, std::size_t bytes);
  void (*commit_products)();
  void (*wait_products)(int pending);
  void (*refuse)(const char* what);
  void (*init_arrivals)(const host_access* arrivals, long long at, int count);
  void (*fence_arrivals)();
  void (*drop_arrivals)(const host_access* arrivals, long long at);
  void (*arrive)(const host_access* arrivals, long long at, int bytes);
  void (*wait_phase)(const host_access* arrivals, long long at, int parity);
  void (*fence_async)();
  unsigned (*draw)(unsigned below);
  void (*copy_tensor)(const host_access* to, long long at, const void* map,
                      const host_access* arrivals, long long there, const int* place, int rank);
  void (*store_tensor)(const void* map, const host_access* from, long long at, const int* place,
                       int rank);
  void (*commit_stores)();
  void (*wait_stores)(int pending, int whole);
  void (*barrier_of)(int number, int threads);
  void (*change_registers)(int count, int more);
  void (*products_read)();
};
/// @}

/// Who touched an element last. A thread's number is its place in its block.
struct shadow {
  static constexpr std::int32_t nobody = -1, several = -2;
  std::int32_t write_block = nobody, read_block = nobody;
  std::int32_t writer = nobody, reader = nobody;
  std::uint32_t write_phase = 0, read_phase = 0;
  // who added to it in one step since it was written
  std::int32_t add_block = nobody, adder = nobody;
  std::uint32_t add_phase = 0;
  bool written = false;
  std::uint64_t write_time = 0;  // counts writes and fences
  // what the copy engine does with it
  bool in_flight = false;     // a copy was started and has not landed
  std::uint8_t leaving = 0;   // stores that have not read it
  std::int32_t landing = -1;  // the copy that wrote it, whose end has to be waited for
};

/// Memory that threads share.
struct memory_region {
  std::byte* base = nullptr;
  int unit_bits = 0;  // a shadow stands for 2^unit_bits bytes
  std::vector<shadow> shadows;
  bool of_block = false;  // shared memory
  void forget_accesses(bool written_too);

  /// The shadows of elements side by side.
  std::span<shadow> shadows_of(const host_access& a, long long at, std::size_t count) {
    const std::byte* const address =
        static_cast<const std::byte*>(a.base) + static_cast<std::size_t>(at) * a.element;
    return {shadows.data() + (static_cast<std::size_t>(address - base) >> unit_bits),
            count * a.element >> unit_bits};
  }
};

/// A copy that a thread has started. It lands when the thread waits for it, and not before.
struct pending_copy {
  host_access to;
  long long at = 0;
  const void* from = nullptr;
  std::size_t count = 0;
};

/// A product of a warp group that a thread has started. It reads its operands when the thread waits for it.
struct pending_product {
  void (*finish)(const void*) = nullptr;
  std::vector<std::byte> what;
};

/// A tensor map, as emulated kernels get it.
struct host_tensor {
  const target::tensor_box* what;
  host_access memory;  // of the whole tensor
};

/// What a thread has learned of others, by what it has waited for.
struct knowledge {
  std::map<std::size_t, std::uint64_t>
      phases;                        // that have ended, of each barrier that counts arrivals
  std::vector<std::uint64_t> reads;  // [threads] until when what each has read is known to be read

  void join(const knowledge& more) {
    for (const auto& [at, n] : more.phases) phases[at] = std::max(phases[at], n);
    reads.resize(std::max(reads.size(), more.reads.size()));
    for (std::size_t t = 0; t < more.reads.size(); ++t)
      reads[t] = std::max(reads[t], more.reads[t]);
  }
};

/// Barriers in shared memory that count arrivals and bytes.
struct counted_arrivals {
  int count = 0, missing = 0;  // arrivals of a phase
  std::int64_t bytes = 0;      // expected and not landed
  std::uint64_t phase = 0;     // phases that have ended since the block began
  std::uint64_t first = 0;     // the one that it was initialized in
  std::int32_t maker = 0;
  std::uint32_t made = 0, used = 0;  // phases of the block's barrier
  bool fenced = false;
  knowledge arrived, ended;  // of those who arrived in this phase, and in phases before it
};

/// A box on its way from global to shared memory, or back.
struct pending_box {
  const host_tensor* map;
  std::array<int, target::tensor_box::max_rank> place;
  std::size_t offset;    // in shared memory
  std::size_t arrivals;  // offset of what counts its bytes
};

/// A box that has landed: whoever has seen the end of that phase may read it.
struct landed_box {
  std::size_t arrivals;
  std::uint64_t phase;
};

/// Bytes of shared memory of which is noted together who reads them: a box begins at a multiple of them.
inline constexpr std::size_t read_unit = 128;

/// Registers of a thread where a block has a multiprocessor for itself.
inline int registers_at_start(std::size_t threads) {
  constexpr std::size_t all = 65536, unit = 8, most = 255;
  return static_cast<int>(std::min(all / threads / unit * unit, most));
}

/// The kernels of one program on one set of arguments. Everything happens on the calling thread.
class emulation {
 public:
  explicit emulation(std::uint64_t seed) : random_(seed) {}

  memory_region& add_region(void* data, std::size_t bytes, std::size_t unit, bool written);
  /// @throws error with what was found
  void launch(const std::string& symbol, void (*entry)(const host_argument*), host_location** place,
              const std::vector<host_argument>& arguments, const std::array<std::uint32_t, 3>& grid,
              const std::array<std::uint32_t, 3>& block, std::size_t shared_bytes);

  const matrix_traffic& traffic() const { return traffic_; }

  /// What the text calls, for the emulation that runs on this thread.
  static const host_runtime& runtime();

 private:
  enum class state : std::uint8_t { ready, at_barrier, at_meeting, at_phase, at_registers, done };
  struct fiber {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack;
    host_location place{};
    emulation::state state = state::ready;
    // of the meeting that the thread has come to: what it brings, and what all of its group brought
    const char* what = "";
    const void* mine = nullptr;
    std::size_t bytes = 0;
    int detail = 0, group = 0;
    std::shared_ptr<const std::vector<std::byte>> brought;
    // copies in the background by groups, the last one still open
    std::vector<std::vector<pending_copy>> copies;
    // products in the background by batches, the last one still open, and the last fence for what they read
    std::vector<std::vector<pending_product>> products;
    std::uint64_t fence_time = 0;
    // of the copy engine: what it waits for, what it knows, stores by groups
    std::size_t arrivals = 0;
    int parity = 0;
    knowledge known;
    std::vector<std::vector<pending_box>> stores;
    // of roles: the barrier that it waits at, 0 for the block's, and how many threads that is for; the phase behind the
    // last one of some of the block's threads; registers that it has and waits for
    int barrier = 0;
    std::size_t barrier_threads = 0;
    std::uint32_t met = 0;
    int registers = 0, wanted = 0;
  };

  void run_block(const host_index& block, std::size_t threads);
  void resume(std::size_t thread);
  void wait(state s);
  const void* meet(const char* what, int detail, const void* mine, std::size_t bytes, int group);
  bool release_meetings(std::size_t threads);
  /// From nowhere: zeros.
  void start_copy(const host_access& to, long long at, const host_access* from, long long there,
                  std::size_t count);
  void wait_copies(int pending);
  /// Elements side by side that a product reads: when it begins (`before` is 0), and when it is waited for, where `before`
  /// is the time at which it began. @returns the time
  unsigned long read_product(const host_access& a, long long at, std::size_t count,
                             unsigned long before);
  void wait_products(int pending);
  void fence_async();
  bool is_unfenced(const shadow& s) const;
  bool release_barrier(std::size_t threads);
  bool release_barrier_of(std::size_t threads);
  void end_barrier(std::size_t threads, int number);
  /// Whether another thread's access in a phase may come before or after what this thread does now.
  bool is_concurrent(std::int32_t thread, std::uint32_t phase) const;

  /// @name The copy engine (tensor/emulated_tensors.ipp)
  /// @{
  void begin_boxes(std::size_t threads);
  void end_thread();
  void init_arrivals(const host_access& a, long long at, int count);
  void fence_arrivals();
  void drop_arrivals(const host_access& a, long long at);
  void arrive(const host_access& a, long long at, int bytes);
  void wait_phase(const host_access& a, long long at, int parity);
  void copy_box(const host_access& to, long long at, const host_tensor& map, const host_access& a,
                long long there, const int* place, int rank);
  void store_box(const host_tensor& map, const host_access& from, long long at, const int* place,
                 int rank);
  void wait_stores(std::size_t pending, bool whole);
  void store_group(std::vector<pending_box>& group);
  /// Lets a copy land that is on its way, whichever. @returns whether there was one
  bool land_one();
  bool has_ended(const fiber& f) const;
  bool release_phases(std::size_t threads);
  void end_phase_if_complete(counted_arrivals& c);
  counted_arrivals& arrivals_at(const host_access& a, long long at, const char* verb);
  std::size_t shared_offset(const host_access& a, long long at) const;
  std::size_t box_offset(const host_access& a, long long at, const host_tensor& map, int rank,
                         const char* verb);
  template <class F>
  void each_element(const pending_box& p, const F& f) const;
  bool sees(const shadow& s) const;
  std::string missing_phases(std::size_t threads) const;
  void note_shared_read(std::size_t offset);
  void products_read();
  void check_reads(std::size_t offset, const host_access& a, long long at);
  void change_registers(int count, bool more);
  bool release_registers(std::size_t threads);
  void check_box_free(const shadow& s, const host_access& a, long long at, const char* verb);
  /// @}
  [[noreturn]] void fail(const std::string& what);
  [[noreturn]] void leave_failed();
  std::string here() const;
  std::string element(const host_access& a, long long at) const;
  template <class F>
  void each_shadow(const host_access& a, long long at, std::size_t count, const F& f);
  void check_bounds(const host_access& a, long long at, std::size_t count, const char* verb);
  void note_read(const host_access& a, long long at, std::size_t count);
  void note_write(const host_access& a, long long at, std::size_t count, const void* value);
  /// An addition that memory makes in one step: others may add at the same time, and do nothing else.
  void note_addition(const host_access& a, long long at);
  void check_additions(const memory_region& region, const shadow& s, const host_access& a,
                       long long at, const char* verb);
  static void enter();

  support::random random_;
  matrix_traffic traffic_;
  std::vector<std::unique_ptr<memory_region>> regions_;
  memory_region shared_;
  std::vector<std::byte> shared_bytes_;
  std::vector<fiber> fibers_;
  ucontext_t scheduler_{};
  std::map<std::size_t, counted_arrivals> arrivals_;  // [offset in shared memory]
  std::map<std::size_t, std::uint64_t> ended_;        // phases of those that are no more
  std::vector<pending_box> boxes_;
  std::vector<landed_box> landed_;
  std::size_t current_ = 0;
  std::int32_t block_number_ = 0;
  std::uint32_t phase_ = 0,
                full_phase_ = 0;        // barriers so far; those when all of the block met last
  std::vector<std::uint64_t> read_at_;  // [read_unit bytes of shared memory][threads] the last time
  std::int64_t free_registers_ = 0;
  bool counts_ = false;  // arrivals, in this block
  std::size_t threads_ = 0;
  std::uint64_t time_ = 0;
  std::array<std::uint32_t, 3> block_shape_{};
  void (*entry_)(const host_argument*) = nullptr;
  const host_argument* arguments_ = nullptr;
  host_location** place_ = nullptr;
  std::string symbol_, failure_;
  static thread_local emulation* active_;
};

}  // namespace tilewright::backend::cuda::detail
