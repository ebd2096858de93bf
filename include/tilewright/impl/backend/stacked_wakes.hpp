// Notices that the operating system wakes workers on the core of whoever wakes them, behind it, though other cores are idle.
//
// Linux does so in virtual machines (worker_place.hpp), and how to ask whether a machine is virtual differs from processor to
// processor and from host to host. The wakes themselves show it everywhere: the worker begins on its waker's core, as soon as the waker
// has gone to sleep, or the worker begins late, when the kernel has balanced its queues.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tilewright::backend::detail {

/// Counts such wakes of the workers of one pool; any thread may call any member.
class stacked_wakes {
 public:
  using clock = std::chrono::steady_clock;
  /// When workers were last woken, in ticks of the clock.
  using stamp = clock::rep;

  /// Called by whoever is about to wake workers, on `core`; -1: the system does not say where.
  void waking(int core, clock::time_point now) {
    waker_.store(core, std::memory_order_relaxed);
    last_.store(now.time_since_epoch().count(), std::memory_order_release);
  }

  /// When workers were last woken; a worker asks before it sleeps.
  stamp last() const { return last_.load(std::memory_order_acquire); }

  /// Called by a worker, once it is awake, on `core`.
  /// @param before what `last` said before the worker slept: nobody has woken it where `last` still says so
  void awake(stamp before, int core, clock::time_point now) {
    const stamp woken = last();
    if (often() || woken == before || core < 0) return;
    const auto took = now - clock::time_point(clock::duration(woken));
    if (core == waker_.load(std::memory_order_relaxed) || took > late)
      count_.fetch_add(1, std::memory_order_relaxed);
  }

  /// Whether such wakes were seen so often that they are no chance.
  bool often() const { return count_.load(std::memory_order_relaxed) >= few; }

 private:
  /// A wake is late by chance where the host takes the processor away; each further wake that is waited for costs a loop without help.
  static constexpr int few = 3;
  /// No idle core takes as long to begin: a core leaves the deepest of its sleeping states in a fifth of this time.
  static constexpr std::chrono::microseconds late{1000};

  std::atomic<int> waker_{-1}, count_{0};
  std::atomic<stamp> last_{0};
};

}  // namespace tilewright::backend::detail
