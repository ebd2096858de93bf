// Long work that one thread does at a time, in a program that may fork meanwhile.
#pragma once

#include <sys/types.h>

#include <mutex>

#include <tilewright/impl/search/measurement/process_sync.hpp>

namespace tilewright::search::detail {

/// Turns, one at a time in each process. A fork does not wait for who has one, as it would for a
/// fork_mutex, and the child does not wait for a thread that it does not have.
class process_turns {
 public:
  /// Waits until no other thread of this process has one.
  class turn {
   public:
    explicit turn(process_turns& of) : of_(of) {
      process_sync::pair& now = of.sync_.get();
      std::unique_lock lock(now.mutex);
      now.changed.wait(lock, [&] { return of.taken_by_ != now.pid; });
      of.taken_by_ = now.pid;
    }
    ~turn() {
      process_sync::pair& now = of_.sync_.get();
      const std::lock_guard lock(now.mutex);
      of_.taken_by_ = 0;
      now.changed.notify_all();
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    process_turns& of_;
  };

 private:
  process_sync sync_;
  pid_t taken_by_ = 0;  // the process of who has the turn, or 0; under the lock
};

}  // namespace tilewright::search::detail
