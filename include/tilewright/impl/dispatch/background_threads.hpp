// Threads that tune beside calls, and their end.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace tilewright::dispatch::detail {

/// Threads, each with the process that started it.
using background_threads = std::vector<std::pair<pid_t, std::thread>>;

/// Lets go of a thread that this process does not have: it can be neither joined nor detached, and the
/// object that stands for it is never destroyed.
inline void leave_to_parent(std::thread t) noexcept {
  alignas(std::thread) unsigned char place[sizeof(std::thread)];
  new (place) std::thread(std::move(t));
}

/// Waits for the end of those that this process has started. The calling thread, which ends the process
/// from a callback, may be one of them and is not waited for; a child of fork has none of its parent's.
inline void end(background_threads&& threads) noexcept {
  for (auto& [pid, t] : threads) {
    if (pid != ::getpid())
      leave_to_parent(std::move(t));
    else if (t.get_id() == std::this_thread::get_id())
      t.detach();
    else
      t.join();
  }
}

}  // namespace tilewright::dispatch::detail
