#include "step_progress.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>

namespace tool {

step_progress::step_progress(std::string what) : what_(std::move(what)), terminal_(isatty(2) == 1) {
  try {
    shower_ = std::thread([this] { show(); });
  } catch (const std::system_error&) {  // no thread is to be had: nothing is shown
  }
}

step_progress::~step_progress() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  if (shower_.joinable()) shower_.join();
}

void step_progress::show() {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  const auto pause = terminal_ ? milliseconds(500) : milliseconds(10000);
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!over_changed_.wait_for(lock, pause, [&] { return over_; })) {
    const std::string line =
        what_ + ", " + std::to_string(duration_cast<seconds>(steady_clock::now() - start).count()) +
        " s";
    std::fputs((terminal_ ? "\r\033[K" + line : "tilewright: " + line + "\n").c_str(), stderr);
    std::fflush(stderr);
    shown = true;
  }
  if (shown && terminal_) std::fputs("\r\033[K", stderr);
}

}  // namespace tool
