// One process at a time uses a GPU while something is timed there.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace tilewright::search::detail {

/// The lock of one device, on a file of this machine that bears its name. Timers of several processes,
/// and of several threads, hold it in turns; the system takes it from a process that ends. Where the file
/// can be neither found nor made nobody waits.
class device_turn {
 public:
  enum class wish { wait, try_once };

  /// @param device what names the device on this machine
  explicit device_turn(const std::string& device, wish w = wish::wait) : file_(open(device)) {
    if (file_ < 0) return;
    while (::flock(file_, w == wish::wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      ::close(file_);
      file_ = -1;
      return;
    }
  }
  ~device_turn() {
    if (file_ >= 0) ::close(file_);
  }
  device_turn(const device_turn&) = delete;
  device_turn& operator=(const device_turn&) = delete;

  bool taken() const noexcept { return file_ >= 0; }

 private:
  /// Whoever comes first makes the file; others need no more than to read it.
  static int open(const std::string& device) {
    const std::string path = "/tmp/tilewright-gpu-" + device + ".lock";
    constexpr int how = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
    for (int times = 0; times < 2; ++times) {
      if (const int there = ::open(path.c_str(), how); there >= 0 || errno != ENOENT) return there;
      if (const int made = ::open(path.c_str(), how | O_CREAT | O_EXCL, 0644); made >= 0)
        return made;
    }
    return -1;
  }

  int file_;
};

}  // namespace tilewright::search::detail
