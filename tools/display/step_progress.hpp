// What a command is doing while it takes its time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tool {

/// Shows on stderr, while it lives, what goes on and for how long: in place on a terminal, from the
/// first half second on, else a line every ten seconds.
class step_progress {
 public:
  explicit step_progress(std::string what);
  ~step_progress();
  step_progress(const step_progress&) = delete;
  step_progress& operator=(const step_progress&) = delete;

 private:
  void show();

  std::string what_;
  bool terminal_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread shower_;
};

}  // namespace tool
