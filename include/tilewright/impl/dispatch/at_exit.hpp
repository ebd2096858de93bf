// Ends threads before the process's static objects end, which they use.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include <tilewright/support/fork_mutex.hpp>

namespace tilewright::dispatch::detail {

/// While one lives, the process's exit calls a function, before it destroys what there was at the
/// last call of `come_first`: a library that was opened since the object was made, for example.
class exit_entry {
 public:
  exit_entry(void (*end)(void*), void* of) : end_(end), of_(of) {
    const std::lock_guard lock(live().mutex);
    live().all.push_back(this);
  }
  /// Waits for the function where it runs.
  ~exit_entry() {
    {
      const std::lock_guard lock(live().mutex);
      live().all.erase(std::remove(live().all.begin(), live().all.end(), this), live().all.end());
    }
    for (std::uint32_t seen = 0; is_called(seen);) live().returns.wait(seen);
  }
  exit_entry(const exit_entry&) = delete;
  exit_entry& operator=(const exit_entry&) = delete;

  /// Whether the process's exit has come to these functions: what was opened before may be gone.
  static bool process_ends() { return live().ends == ::getpid(); }

  /// @param done remembers that it was called from this place
  static void come_first(std::atomic<bool>& done) {
    const support::fork_pass inside;
    if (!done.exchange(true)) std::atexit(&end_all);
  }

 private:
  struct list {
    support::fork_mutex mutex;
    std::vector<exit_entry*> all;
    const exit_entry* called = nullptr;  // its function runs, in process `caller`
    pid_t caller = 0;
    std::atomic<std::uint32_t> returns{0};  // of all functions
    std::atomic<pid_t> ends{0};             // the process that ends
  };
  static list& live() {
    const support::fork_pass inside;
    static auto* made = new list;  // outlives static destruction
    return *made;
  }

  /// @param returns of all functions, at this time
  bool is_called(std::uint32_t& returns) const {
    const std::lock_guard lock(live().mutex);
    returns = live().returns;
    return live().called == this && live().caller == ::getpid();
  }

  /// One that has not been called in this process, and is from now on; null: none.
  static const exit_entry* next() {
    const std::lock_guard lock(live().mutex);
    for (exit_entry* e : live().all) {
      if (std::exchange(e->called_in_, ::getpid()) == ::getpid()) continue;
      live().caller = ::getpid();
      return live().called = e;
    }
    return nullptr;
  }
  static void returned() {
    const std::lock_guard lock(live().mutex);
    live().called = nullptr;
    ++live().returns;
    live().returns.notify_all();
  }

  // Outside of the lock: threads may need a pass to end, and another one may wait to fork.
  static void end_all() {
    live().ends = ::getpid();
    while (const exit_entry* e = next()) {
      e->end_(e->of_);
      returned();
    }
  }

  void (*end_)(void*);
  void* of_;
  pid_t called_in_ = 0;
};

}  // namespace tilewright::dispatch::detail
