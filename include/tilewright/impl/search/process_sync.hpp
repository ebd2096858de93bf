// A lock that survives fork.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace tilewright::search::detail {

/// A mutex and a condition that a forked child replaces, since their owner may be a thread that the
/// child does not have.
class process_sync {
 public:
  struct pair {
    std::mutex mutex;
    std::condition_variable changed;
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
