// A command of the shell as the other side of a connection: how a worker behind ssh is reached.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>

namespace tilewright::search::detail {

/// The processes of a command; they end with this object.
class running_command {
 public:
  running_command() = default;
  ~running_command() { end(); }
  running_command(const running_command&) = delete;
  running_command& operator=(const running_command&) = delete;

  /// Starts `command` with its input and output connected. @returns the connection; none where
  /// `problem` says why
  socket_handle start(const std::string& command, std::string& problem) {
    end();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      problem = std::strerror(errno);
      return socket_handle();
    }
    socket_handle ours(ends[0]);
    const socket_handle theirs(ends[1]);
    problem.clear();
    if (const int failed = spawn(command, theirs.get()); failed != 0) {
      pid_ = 0;
      problem = std::strerror(failed);
      return socket_handle();
    }
    return ours;
  }

  /// To be called when the connection is closed: a command that does not end by itself is killed.
  void end() {
    constexpr int steps = 20;
    constexpr useconds_t step = 10000;  // us
    if (pid_ == 0) return;
    for (int i = 0; i < steps; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = 0;
        return;
      }
      ::usleep(step);
    }
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
  }

 private:
  /// In a process group of its own, since the shell may start others. @returns an errno
  int spawn(const std::string& command, int connection) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, connection, 0);
    posix_spawn_file_actions_adddup2(&actions, connection, 1);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    std::string shell = "sh", option = "-c", text = command;
    char* argv[] = {shell.data(), option.data(), text.data(), nullptr};
    const int failed = ::posix_spawn(&pid_, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
  }

  pid_t pid_ = 0;
};

}  // namespace tilewright::search::detail
