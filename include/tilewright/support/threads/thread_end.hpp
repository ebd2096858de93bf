// What happens when a thread ends, in a shared object that may be closed before.
#pragma once

#include <pthread.h>

namespace tilewright::support {

/// Calls a function at the end of each thread that asked for it. The destructor of a thread_local
/// object would keep the shared object loaded for as long as the thread lives, and a thread of the
/// library's own pool lives until the object is unloaded. Where the shared object goes first, nothing
/// is called: what the threads hold is left to the process. The main thread's end is that of the
/// process, and calls nothing.
class thread_end {
 public:
  explicit thread_end(void (*at_end)(void*)) noexcept
      : made_(::pthread_key_create(&key_, at_end) == 0) {}
  ~thread_end() {
    if (made_) ::pthread_key_delete(key_);
    made_ = false;  // destructors of other static objects may still ask
  }
  thread_end(const thread_end&) = delete;
  thread_end& operator=(const thread_end&) = delete;

  /// The end of this thread calls the function with `of`, which is not null.
  void ask(void* of) const noexcept {
    if (made_) ::pthread_setspecific(key_, of);
  }

 private:
  pthread_key_t key_{};
  bool made_ = false;
};

}  // namespace tilewright::support
