// Ends threads before the process's static objects end, which they use.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <tilewright/impl/search/fork_mutex.hpp>

namespace tilewright::search::detail {

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
    const std::lock_guard lock(live().mutex);
    live().all.erase(std::remove(live().all.begin(), live().all.end(), this), live().all.end());
  }
  exit_entry(const exit_entry&) = delete;
  exit_entry& operator=(const exit_entry&) = delete;

  /// @param done remembers that it was called from this place
  static void come_first(std::atomic<bool>& done) {
    if (!done.exchange(true)) std::atexit(&end_all);
  }

 private:
  struct list {
    fork_mutex mutex;
    std::vector<exit_entry*> all;
  };
  static list& live() {
    static auto* made = new list;  // outlives static destruction
    return *made;
  }
  static void end_all() {
    const std::lock_guard lock(live().mutex);
    for (const exit_entry* e : live().all) e->end_(e->of_);
  }

  void (*end_)(void*);
  void* of_;
};

}  // namespace tilewright::search::detail
