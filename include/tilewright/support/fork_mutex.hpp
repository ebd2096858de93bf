// A mutex that a forked child finds free, and what it guards whole.
#pragma once

#include <mutex>

#include <tilewright/support/fork_gate.hpp>

namespace tilewright::support {

/// A mutex whose holders finish before the process forks; who holds it has a `fork_pass`, with what
/// that requires. With a condition, `std::condition_variable_any` gives both back while it waits;
/// the condition itself is of no use in a child.
class fork_mutex {
 public:
  constexpr fork_mutex() noexcept = default;
  void lock() {
    detail::enter_fork_gate();  // those who wait for the mutex wait for a thread that is inside too
    mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
    detail::leave_fork_gate();
  }
  fork_mutex(const fork_mutex&) = delete;
  fork_mutex& operator=(const fork_mutex&) = delete;

 private:
  std::mutex mutex_;
};

}  // namespace tilewright::support
