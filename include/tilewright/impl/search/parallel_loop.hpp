// A loop of independent iterations on the threads of a pool, which begins none when time is up.
//
// The thread that asks runs iterations beside the pool's threads and waits for none that has not
// begun one. Where others use the cores, a thread that is started for a few milliseconds of work
// comes to run when the work is done, and joining it took ten times as long as the work.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include <tilewright/backend/pool.hpp>

namespace tilewright::search::detail {

/// Runs body(0) .. body(n - 1), each at most once, on any thread.
/// @param over asked on the thread of the caller only; once it has said so, no iteration begins
/// @returns for each whether it was run   [n]
/// @throws the first exception of an iteration, when those that run have ended
template <class Body>
std::vector<char> parallel_loop(const backend::executor& threads, std::size_t n,
                                const std::function<bool()>& over, const Body& body) {
  struct loop {
    const std::function<bool()>& over;
    const Body& body;
    std::vector<char> done;
    std::atomic<bool> ended{false};
    std::mutex guard{};
    std::exception_ptr failure{};

    void run(std::size_t i, bool of_caller) {
      if (of_caller && over && over()) ended.store(true, std::memory_order_relaxed);
      if (ended.load(std::memory_order_relaxed)) return;
      try {
        body(i);
        done[i] = 1;
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
        ended.store(true, std::memory_order_relaxed);
      }
    }
  };
  loop all{over, body, std::vector<char>(n, 0)};
  threads.run(
      threads.self, static_cast<std::int64_t>(n),
      [](void* context, std::int64_t i, int worker) {
        static_cast<loop*>(context)->run(static_cast<std::size_t>(i), worker == 0);
      },
      &all);
  if (all.failure) std::rethrow_exception(all.failure);
  return std::move(all.done);
}

}  // namespace tilewright::search::detail
