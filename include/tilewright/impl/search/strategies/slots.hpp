// Work in slots, on this thread and helpers of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include <tilewright/support/thread.hpp>

namespace tilewright::search::detail {

/// Threads that are waited for, however their scope is left.
struct crew {
  std::vector<std::thread> list;
  crew() = default;
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew() {
    for (std::thread& t : list)
      if (t.joinable()) t.join();  // else the machine gave no more threads
  }
};

/// Runs f(0), f(1), ..., each once, on this thread and `threads - 1` others, in this order as far as
/// it can be told, until all `n` have run or `over` says to end. A slot may be shorter than the start
/// of a thread: helpers are started once for all of them, and take the next slot when they are done
/// with one.
/// @param over polled by this thread before each of its slots; null: never
/// @returns how many have run: those before it, and no other
template <class F>
std::size_t for_slots(std::size_t n, int threads, const std::function<bool()>& over, const F& f) {
  std::atomic<std::size_t> next{0}, ran{0};
  std::atomic<bool> ended{false};
  const auto take = [&](bool asks) {
    while (!ended.load(std::memory_order_relaxed)) {
      if (asks && over && over()) {
        ended = true;
        return;
      }
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= n) return;
      f(i);
      ran.fetch_add(1, std::memory_order_relaxed);
    }
  };
  {
    crew helpers;
    const std::size_t wanted = std::min(n, static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t w = 1; w < wanted; ++w)
      helpers.list.push_back(support::start_thread([&take] { take(false); }));
    take(true);
  }
  return ran;
}

}  // namespace tilewright::search::detail
