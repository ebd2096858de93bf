// A mutex that a forked child finds free.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace tilewright::search::detail {

/// A mutex whose holders finish before the process forks: what it guards is whole in the child, and nobody holds it
/// there. For short operations; a holder does not create or destroy another one.
class fork_mutex {
 public:
  fork_mutex() {
    const std::lock_guard lock(all().mutex);
    all().list.push_back(this);
  }
  ~fork_mutex() {
    const std::lock_guard lock(all().mutex);
    std::vector<fork_mutex*>& list = all().list;
    list.erase(std::remove(list.begin(), list.end(), this), list.end());
  }
  fork_mutex(const fork_mutex&) = delete;
  fork_mutex& operator=(const fork_mutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct registry {
    registry() { ::pthread_atfork(&before, &after, &after); }
    std::mutex mutex;
    std::vector<fork_mutex*> list;
  };
  static registry& all() {
    static auto* made = new registry;  // outlives static destruction
    return *made;
  }
  static void before() {
    all().mutex.lock();
    for (fork_mutex* m : all().list) m->mutex_.lock();
  }
  static void after() {
    for (fork_mutex* m : all().list) m->mutex_.unlock();
    all().mutex.unlock();
  }

  std::mutex mutex_;
};

}  // namespace tilewright::search::detail
