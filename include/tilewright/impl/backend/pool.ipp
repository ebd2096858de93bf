#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <tilewright/backend/pool.hpp>
#include <tilewright/config.hpp>
#include <tilewright/impl/backend/stacked_wakes.hpp>
#include <tilewright/impl/backend/worker_place.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/fork_gate.hpp>
#include <tilewright/support/fork_mutex.hpp>
#include <tilewright/support/notice.hpp>
#include <tilewright/support/numbers/float_environment.hpp>
#include <tilewright/support/thread.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::backend {
namespace detail::pool_parts {

/// Callers whose loops are open at once and shared with workers; further callers run alone.
inline constexpr std::size_t max_jobs = 8;
/// Ranges of chunks of a loop; of more threads several begin in the same one.
inline constexpr int most_ranges = 16;
/// How long an idle worker looks for work before it sleeps: long enough for the next of several
/// calls in a row, short enough that none is awake a millisecond after the last.
inline constexpr std::chrono::microseconds spin_time{400};

/// A loop in progress. Its caller owns the slot; workers join while it is open.
///
/// `state` packs a generation (upper 32 bits), an open flag and the number of workers inside, so
/// that a worker joins exactly the loop it saw: joining is one compare-and-swap, and the caller
/// waits for the count to reach zero before it reuses the slot.
///
/// Each thread begins with a range of neighbouring chunks, the same one in every call, and goes on with what
/// is left of the others: what it read and wrote the last time is then in its own second-level cache.
struct alignas(64) job {
  struct alignas(64) range {
    std::atomic<std::int64_t> next{0};
    std::int64_t end = 0;
  };

  std::atomic<bool> taken{false};  // by a caller
  alignas(64) std::atomic<std::uint64_t> state{0};
  std::atomic<int> tickets{0};  // worker numbers handed out; the caller is 0
  int count = 0;                // of ranges
  chunk_body body = nullptr;
  void* context = nullptr;
  int limit = 1;  // threads that may work on it
  std::array<range, most_ranges> ranges;

  void divide(std::int64_t chunks, int threads) {
    count = static_cast<int>(
        std::min<std::int64_t>({std::int64_t{threads}, chunks, std::int64_t{most_ranges}}));
    for (int i = 0; i < count; ++i) {
      range& r = ranges[static_cast<std::size_t>(i)];
      r.next.store(chunks / count * i + std::min<std::int64_t>(i, chunks % count),
                   std::memory_order_relaxed);
      r.end = chunks / count * (i + 1) + std::min<std::int64_t>(i + 1, chunks % count);
    }
  }
  bool has_chunks() const {
    for (int i = 0; i < count; ++i) {
      const range& r = ranges[static_cast<std::size_t>(i)];
      if (r.next.load(std::memory_order_relaxed) < r.end) return true;
    }
    return false;
  }
};

inline constexpr std::uint64_t open_flag = std::uint64_t{1} << 31;
inline constexpr std::uint64_t count_mask = open_flag - 1;

inline void cpu_pause() {
#if TILEWRIGHT_X86
  __builtin_ia32_pause();
#endif
}

/// True on a thread that is running a chunk: loops that it starts run inline.
inline bool& inside_chunk() {
  static thread_local bool inside = false;
  return inside;
}

inline void run_inline(std::int64_t chunks, chunk_body body, void* context) {
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) body(context, chunk, 0);
}

/// Claims chunks until none is left, those of the thread's own range first.
/// @param place of the thread among those of the pool; the caller's is 0
inline void work(job& j, int worker, int place) {
  bool& inside = inside_chunk();
  const bool before = std::exchange(inside, true);
  for (int i = 0; i < j.count; ++i) {
    job::range& r = j.ranges[static_cast<std::size_t>((place + i) % j.count)];
    // a range that is used up is not written to, so that its owner keeps the line
    while (r.next.load(std::memory_order_relaxed) < r.end) {
      const std::int64_t chunk = r.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= r.end) break;
      j.body(j.context, chunk, worker);
    }
  }
  inside = before;
}

}  // namespace detail::pool_parts

struct pool::state {
  explicit state(int count)
      : threads(std::clamp(count, 1, most_threads())),
        given(threads),
        born(support::fork_generation()),
        places(static_cast<std::size_t>(threads)) {
    views.reserve(static_cast<std::size_t>(threads));
    for (int n = 1; n <= threads; ++n) limits.push_back({this, n});
    for (int n = 1; n <= threads; ++n)
      views.push_back({&state::run, &limits[static_cast<std::size_t>(n - 1)], n});
  }

  struct limited {
    state* owner;
    int threads;
  };

  /// Its threads exist in the parent only.
  bool forked() const { return support::fork_generation() != born.load(); }

  static void run(void* self, std::int64_t chunks, chunk_body body, void* context) {
    auto* view = static_cast<limited*>(self);
    view->owner->run(view->threads, chunks, body, context);
  }

  void run(int limit, std::int64_t chunks, chunk_body body, void* context) {
    namespace parts = detail::pool_parts;
    if (limit <= 1 || chunks <= 1 || parts::inside_chunk() ||
        stopping.load(std::memory_order_relaxed))
      return parts::run_inline(chunks, body, context);
    if (!started.load(std::memory_order_acquire) || forked()) start();
    parts::job* j = take_job();
    if (!j) return parts::run_inline(chunks, body, context);
    j->divide(chunks, limit);
    j->tickets.store(1, std::memory_order_relaxed);
    j->body = body;
    j->context = context;
    j->limit = limit;
    const std::uint64_t generation = (j->state.load(std::memory_order_relaxed) >> 32) + 1;
    j->state.store((generation << 32) | parts::open_flag, std::memory_order_release);
    wake(std::min<std::int64_t>(limit, chunks) - 1);
    parts::work(*j, 0, 0);
    // Nobody joins once the flag is gone; those inside finish the chunks they hold.
    j->state.fetch_and(~parts::open_flag, std::memory_order_acq_rel);
    for (int spins = 0; (j->state.load(std::memory_order_acquire) & parts::count_mask) != 0;
         ++spins) {
      if (spins < 4000)
        parts::cpu_pause();
      else
        std::this_thread::yield();  // a worker may have been preempted in its chunk
    }
    j->taken.store(false, std::memory_order_release);
  }

  detail::pool_parts::job* take_job() {
    for (auto& j : jobs)
      if (!j.taken.load(std::memory_order_relaxed) &&
          !j.taken.exchange(true, std::memory_order_acquire))
        return &j;
    return nullptr;
  }

  /// Makes the new loop visible to sleepers. The epoch changes first, so that a worker that is
  /// about to sleep sees another value; the count of sleepers says whether the futex call is
  /// needed.
  void wake(std::int64_t wanted) {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    const int asleep = sleepers.load(std::memory_order_seq_cst);
    if (asleep == 0) return;
    const int core = ::sched_getcpu();
    if (core >= 0 && wakes.often())
      for (detail::worker_place& p : places) p.leave(core);
    wakes.waking(core, detail::stacked_wakes::clock::now());
    if (wanted >= asleep) return epoch.notify_all();
    for (std::int64_t i = 0; i < wanted; ++i) epoch.notify_one();
  }

  /// Joins one open loop; true when it found one.
  bool join_any(int place) {
    namespace parts = detail::pool_parts;
    for (parts::job& j : jobs) {
      std::uint64_t seen = j.state.load(std::memory_order_acquire);
      if (!(seen & parts::open_flag)) continue;
      if (!j.state.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel)) continue;
      bool useful = false;
      if (j.has_chunks()) {
        const int worker = j.tickets.fetch_add(1, std::memory_order_relaxed);
        useful = worker < j.limit;
        if (useful) parts::work(j, worker, place);
      }
      j.state.fetch_sub(1, std::memory_order_acq_rel);
      if (useful) return true;
    }
    return false;
  }

  /// @param place of this worker among the threads, from 1 on
  void serve(int place) {
    const support::masked_float_traps quiet;  // which the thread has from whoever started it
    namespace parts = detail::pool_parts;
    using clock = std::chrono::steady_clock;
    while (!stopping.load(std::memory_order_acquire)) {
      if (join_any(place)) continue;
      const std::uint32_t seen = epoch.load(std::memory_order_seq_cst);
      const auto until = clock::now() + parts::spin_time;
      bool fresh = join_any(place);
      while (!fresh && clock::now() < until) {
        for (int i = 0; i < 32 && !fresh; ++i) {
          parts::cpu_pause();
          fresh = epoch.load(std::memory_order_acquire) != seen;
        }
      }
      if (fresh || stopping.load(std::memory_order_acquire)) continue;
      places[static_cast<std::size_t>(place)].sleep();
      const detail::stacked_wakes::stamp last = wakes.last();
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      epoch.wait(seen, std::memory_order_seq_cst);
      sleepers.fetch_sub(1, std::memory_order_seq_cst);
      places[static_cast<std::size_t>(place)].wake();
      wakes.awake(last, ::sched_getcpu(), clock::now());
    }
  }

  /// A machine that gives no more threads leaves the pool with fewer; callers do the work
  /// themselves.
  void start() {
    const std::lock_guard lock(starting);
    if (forked()) begin_anew();
    if (started.load(std::memory_order_relaxed)) return;
    for (int i = 1; i < threads; ++i) {
      std::thread worker = support::start_thread([this, i] { serve(i); });
      if (!worker.joinable()) break;
      workers.push_back(std::move(worker));
    }
    given.store(1 + static_cast<int>(workers.size()));
    if (given != threads)
      support::notice("the machine gives no more threads: " + std::to_string(given) + " of " +
                      std::to_string(threads) + " work on parallel loops");
    started.store(true, std::memory_order_release);
  }

  /// Leaves what the parent's threads were doing; those of this process have done nothing yet.
  void begin_anew() {
    forget_workers();
    for (detail::pool_parts::job& j : jobs) {
      j.state.store(0);
      j.taken.store(false);
    }
    for (detail::worker_place& p : places) p.forget();
    sleepers.store(0);
    started.store(false);
    born.store(support::fork_generation());
  }

  /// The C library has reused the stacks of the parent's threads: neither join nor detach may look at
  /// them, so the handles are left alone for good.
  void forget_workers() {
    (void)new std::vector<std::thread>(std::move(workers));
    workers.clear();
  }

  void stop() {
    stopping.store(true, std::memory_order_release);
    if (forked()) return forget_workers();
    epoch.fetch_add(1, std::memory_order_seq_cst);
    epoch.notify_all();
    for (std::thread& w : workers) w.join();
    workers.clear();
  }

  const int threads;
  std::atomic<int> given;                    // of these
  std::atomic<std::uint64_t> born;           // the fork_generation of its workers
  std::vector<detail::worker_place> places;  // by place
  detail::stacked_wakes wakes;               // by workers and callers
  std::vector<limited> limits;
  std::vector<executor> views;
  std::array<detail::pool_parts::job, detail::pool_parts::max_jobs> jobs;
  alignas(64) std::atomic<std::uint32_t> epoch{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stopping{false};
  support::fork_mutex starting;
  std::atomic<bool> started{false};
  std::vector<std::thread> workers;
};

TILEWRIGHT_INLINE pool::pool(int threads) : state_(std::make_unique<state>(threads)) {}

TILEWRIGHT_INLINE pool::~pool() { state_->stop(); }

TILEWRIGHT_INLINE int pool::threads() const noexcept { return state_->threads; }

TILEWRIGHT_INLINE int pool::started() const noexcept { return state_->given; }

TILEWRIGHT_INLINE const executor& pool::view() const noexcept { return state_->views.back(); }

TILEWRIGHT_INLINE const executor& pool::view(int threads) const {
  if (threads < 1 || threads > state_->threads)
    throw argument_error("pool has " + std::to_string(state_->threads) + " threads; a view of " +
                         std::to_string(threads) + " needs a number from 1 to that");
  return state_->views[static_cast<std::size_t>(threads - 1)];
}

TILEWRIGHT_INLINE int most_threads() {
  static const int most = std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency()));
  return most;
}

TILEWRIGHT_INLINE int threads_asked_for(std::string_view text) {
  int out = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty()) return 0;
  if (failed != std::errc() || end != text.data() + text.size() || out < 0)
    throw argument_error("TILEWRIGHT_NUM_THREADS is \"" + std::string(text) +
                         "\"; write a number of threads, or 0 for all cores");
  if (out > most_threads())
    support::notice("TILEWRIGHT_NUM_THREADS is " + std::string(text) + "; " +
                    std::to_string(most_threads()) + " threads are used");
  return std::min(out, most_threads());
}

TILEWRIGHT_INLINE pool& pool::shared() {
  // Never destroyed: kernels that run in destructors of other statics find a pool that works
  // inline.
  const support::fork_pass inside;
  static pool& instance = *[] {
    const char* text = std::getenv("TILEWRIGHT_NUM_THREADS");
    const int wanted = text ? threads_asked_for(text) : 0;
    return new pool(wanted > 0 ? wanted : target::host().cores);
  }();
  static const int registered = std::atexit([] { shared().state_->stop(); });
  (void)registered;
  return instance;
}

TILEWRIGHT_INLINE const executor& serial_executor() {
  static const executor serial{[](void*, std::int64_t chunks, chunk_body body, void* context) {
                                 detail::pool_parts::run_inline(chunks, body, context);
                               },
                               nullptr, 1};
  return serial;
}

}  // namespace tilewright::backend
