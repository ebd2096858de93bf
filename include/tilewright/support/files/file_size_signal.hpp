// The signal that comes with a write beyond the process's limit on the size of files.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace tilewright::support {

/// While one lives, a write of this thread beyond RLIMIT_FSIZE fails with EFBIG and nothing else:
/// SIGXFSZ, whose default ends the process, is held back and taken away at the end. What the host
/// program does with the signal, and one that was waiting before, stays as it was.
class file_size_signal_block {
 public:
  file_size_signal_block() noexcept {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    waited_ = waits();
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0;
  }
  ~file_size_signal_block() {
    if (!blocked_) return;
    if (!waited_ && waits()) take();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  file_size_signal_block(const file_size_signal_block&) = delete;
  file_size_signal_block& operator=(const file_size_signal_block&) = delete;

 private:
  static bool waits() noexcept {
    sigset_t waiting;
    return ::sigpending(&waiting) == 0 && ::sigismember(&waiting, SIGXFSZ) == 1;
  }
  void take() const noexcept {
    const std::timespec at_once{};
    ::sigtimedwait(&signal_, nullptr, &at_once);
  }

  sigset_t signal_{}, before_{};
  bool waited_ = false, blocked_ = false;
};

}  // namespace tilewright::support
