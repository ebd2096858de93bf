// Peers in a process of their own: a line is asked, and a line comes back.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <tilewright/support/error.hpp>

namespace gpu_peers {

/// A process that does not answer, or answers what was not asked.
struct peer_lost : tilewright::build_error {
  using build_error::build_error;
};

/// A process that reads lines and writes lines.
class peer_process {
 public:
  /// @param command  its program and arguments @throws peer_lost when it cannot be started
  explicit peer_process(const std::vector<std::string>& command);
  /// Ends it where it does not end by itself.
  ~peer_process();
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;

  /// The next line. @throws peer_lost when none comes within so many seconds
  std::string hear(double seconds);
  /// The line that answers this one. @throws peer_lost
  std::string ask(const std::string& line, double seconds);

 private:
  /// How it has ended, where it says that something went wrong.
  std::string how_it_ended();

  pid_t process_ = -1;
  int socket_ = -1;
  std::string heard_;  // and not asked for yet
};

/// PyTorch and Triton, as tools/gpu_peers.py has them.
class python_peers {
 public:
  /// Starts `command`, the script with --serve; nothing happens before the first question.
  explicit python_peers(std::vector<std::string> command) : command_(std::move(command)) {}

  /// "pytorch", "triton": those that answer. Why there is none stands in `missing`.
  const std::vector<std::string>& names();
  const std::string& missing() const noexcept { return missing_; }
  /// Readies a case; where its process is lost over that, carefully in another one.
  /// @returns why it cannot be timed; empty when it can
  std::string prepare(const std::string& stage, const std::string& name, const std::string& peer,
                      double seconds);
  /// What is to be said of the case that is ready.
  const std::string& note() const noexcept { return note_; }
  /// Seconds of one run, in a round that takes 20 ms or more. @throws peer_lost
  double round(double seconds);
  /// Frees what the case has.
  void drop();

 private:
  void lose();

  std::vector<std::string> command_;
  std::unique_ptr<peer_process> process_;
  std::vector<std::string> names_;
  std::string missing_, note_;
  int lost_ = 0;  // processes
  bool asked_ = false;
};

}  // namespace gpu_peers
