// A child, and threads that are busy while it is forked.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/sanitizers.hpp"

namespace forks {

/// The sanitizers guard their own state by locks that a fork does not wait for: a child that is forked
/// while another thread holds one hangs as soon as it allocates or starts a thread.
inline constexpr bool forks_usable = !sanitizers::thread && !sanitizers::address;

/// Runs `work` in a child, which is ended when it takes minutes; the status that it ended with. The
/// child exits without what is done at an exit, unless `work` does it.
template <class Work>
int status_of(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    work();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

/// The same for `work` that returns an exit code; -1: it did not exit.
template <class Work>
int in_child(const Work& work) {
  const int status = status_of([&] { _exit(work()); });
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Threads that do something again and again.
class crowd {
 public:
  template <class Work>
  crowd(int threads, Work work) {
    for (int t = 0; t < threads; ++t)
      all_.emplace_back([this, work] {
        while (!ended_) work();
      });
  }
  ~crowd() {
    ended_ = true;
    for (std::thread& t : all_) t.join();
  }

 private:
  std::atomic<bool> ended_{false};
  std::vector<std::thread> all_;
};

inline void nap(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace forks
