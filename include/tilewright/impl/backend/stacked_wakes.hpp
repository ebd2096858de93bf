// Notices that the operating system wakes workers behind whoever wakes them, though other cores are idle.
//
// Linux does so in virtual machines (worker_place.hpp), and what says that a machine is one differs from processor to
// processor and from host to host. What a wake came to shows it everywhere: the worker begins on its waker's core, as soon as that one
// has gone to sleep, or it begins late, when the kernel has balanced its queues.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tilewright::backend::detail {

class stacked_wakes {
 public:
  using clock = std::chrono::steady_clock;
  /// When workers were last woken, in ticks of the clock.
  using stamp = clock::rep;

  /// By whoever is about to wake workers, on `core`; -1: the system does not say where.
  void waking(int core, clock::time_point now) {
    waker_.store(core, std::memory_order_relaxed);
    last_.store(now.time_since_epoch().count(), std::memory_order_release);
  }

  /// By a worker, before it sleeps.
  stamp last() const { return last_.load(std::memory_order_acquire); }

  /// By the worker, once it is awake, on `core`.
  /// @param before what `last` said before it slept: nobody has woken it where that is still the last
  void awake(stamp before, int core, clock::time_point now) {
    const stamp woken = last();
    if (often() || woken == before || core < 0) return;
    const auto took = now - clock::time_point(clock::duration(woken));
    if (core == waker_.load(std::memory_order_relaxed) || took > late)
      count_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Whether that has been seen so often that it is no chance.
  bool often() const { return count_.load(std::memory_order_relaxed) >= few; }

 private:
  static constexpr int few = 3;
  /// No idle core takes as long to begin: the deepest states are left in a fifth of that.
  static constexpr std::chrono::microseconds late{1000};

  std::atomic<int> waker_{-1}, count_{0};
  std::atomic<stamp> last_{0};
};

}  // namespace tilewright::backend::detail
