// A lock that survives fork.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::search::detail {

/// A mutex and a condition. What they guard is whole in a forked child, which replaces them, since
/// threads that it does not have may wait for the condition.
class process_sync {
 public:
  struct pair {
    support::fork_mutex mutex;
    std::condition_variable_any changed;
    pid_t pid = ::getpid();
  };

  process_sync() = default;
  ~process_sync() { delete now_.load(); }
  process_sync(const process_sync&) = delete;
  process_sync& operator=(const process_sync&) = delete;

  /// The pair of this process; any thread.
  pair& get() {
    pair* now = now_.load(std::memory_order_acquire);
    if (now && now->pid == ::getpid()) return *now;
    auto* fresh = new pair;
    if (now_.compare_exchange_strong(now, fresh)) return *fresh;  // the parent's is left as it is
    delete fresh;
    return *now;
  }

 private:
  std::atomic<pair*> now_{nullptr};
};

}  // namespace tilewright::search::detail
