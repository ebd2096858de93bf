// Threads of a program's own, which a kernel or a network may run its loops on.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <tilewright/backend/call.hpp>

/// Two threads a loop; counts the loops and the chunks that it was given.
struct two_threads {
  std::atomic<int> loops{0};
  std::atomic<std::int64_t> chunks{0};

  static void run(void* self, std::int64_t count, tilewright::backend::chunk_body body,
                  void* context) {
    auto& own = *static_cast<two_threads*>(self);
    ++own.loops;
    own.chunks += count;
    std::atomic<std::int64_t> next{0};
    const auto work = [&](int worker) {
      for (std::int64_t c = next++; c < count; c = next++) body(context, c, worker);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
  }
  tilewright::backend::executor view() { return {&run, this, 2}; }
};
