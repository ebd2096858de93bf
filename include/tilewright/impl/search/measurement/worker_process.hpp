// A process `tilewright worker`, and what it answers.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <tilewright/backend/compile.hpp>
#include <tilewright/impl/search/measurement/worker_message.hpp>
#include <tilewright/search/measurement/guard.hpp>
#include <tilewright/search/measurement/worker.hpp>

namespace tilewright::search::detail {

/// What a worker says first; another one has another idea of code or messages.
inline message worker_greeting() {
  constexpr std::uint64_t protocol = 7;
  message out;
  out.add(protocol);
  out.add(static_cast<std::uint64_t>(backend::lowering_revision));
  return out;
}

inline bool is_program(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && ::access(path.c_str(), X_OK) == 0 &&
         std::filesystem::is_regular_file(path, ignored);
}

/// "SIGSEGV", "exit code 3".
inline std::string end_text(int status) {
  if (WIFSIGNALED(status)) {
    const int s = WTERMSIG(status);
    const std::string known = fault_name(s);
    return known != "signal" ? known : known + " " + std::to_string(s);
  }
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

struct worker_answer {
  std::vector<std::byte> said;
  std::string wrong;  // why there is none; empty where there is
  bool late = false, cancelled = false;
};

/// Started when it is first asked, and again after it ended. Not thread-safe.
class worker_process {
 public:
  /// @param memory descriptor for the process to share; -1: none
  /// @param introduction what it is told when it starts, and answers with an empty message
  explicit worker_process(int memory, std::optional<message> introduction = {})
      : memory_(memory), introduction_(std::move(introduction)), owner_(::getpid()) {}
  ~worker_process() { stop(); }
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;

  /// From now on waiting for an answer ends when `cancelled` is true, and the process with it.
  void watch(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

  pid_t pid() const noexcept { return pid_; }
  int starts() const noexcept { return starts_; }

  /// Sends a request and waits for its answer; a process that gives none is ended.
  /// @param most bytes of an answer
  /// @param deadline s
  /// @throws build_error when no process can be started
  worker_answer ask(const message& request, std::size_t most, double deadline) {
    if (pid_ == 0) start();
    const message_stream stream(connection_, cancelled_);
    worker_answer out;
    result got = stream.send(request, worker_time_after(patience));
    if (got == result::done) got = stream.receive(out.said, most, worker_time_after(deadline));
    if (got == result::done) return out;
    const std::string end = stop();
    out.late = got == result::late;
    out.cancelled = got == result::cancelled;
    if (out.cancelled) out.wrong = "was cancelled, and so the worker was ended";
    if (got == result::late)
      out.wrong = "took longer than its deadline, and so the worker was ended";
    if (got == result::closed)
      out.wrong = "the worker ended with " + (end.empty() ? "nothing said" : end);
    if (got == result::nonsense) out.wrong = "the worker answered nonsense";
    return out;
  }

  void start() {
    if (::getpid() != owner_)
      throw build_error("a worker cannot be used in a forked child of the process that started it");
    const std::string program = find_worker();
    if (program.empty())
      throw build_error(
          "no program tilewright was found to run candidates in a process of their own; put it "
          "beside this program or on PATH, or name it in TILEWRIGHT_WORKER");
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw build_error(std::string("no connection for a worker: ") + std::strerror(errno));
    connection_ = ends[0];
    const int failed = spawn(program, ends[1]);
    ::close(ends[1]);
    if (failed != 0) {
      pid_ = 0;
      stop();
      throw build_error("worker " + program + " cannot be started: " + std::strerror(failed));
    }
    ++starts_;
    greet(program);
  }

  /// @returns how it ended
  std::string stop() {
    if (connection_ >= 0) ::close(connection_);
    connection_ = -1;
    int status = 0;
    const pid_t ended = std::exchange(pid_, 0);
    if (ended <= 0 || ::getpid() != owner_) return {};
    // what has not ended by itself is ended now; how, is of interest only in the first case
    for (int i = 0; i < 20; ++i) {
      if (::waitpid(ended, &status, WNOHANG) == ended) return end_text(status);
      ::usleep(1000);
    }
    ::kill(ended, SIGKILL);
    ::waitpid(ended, &status, 0);
    return {};
  }

 private:
  using result = message_stream::result;
  static constexpr double patience = 20;  // s to start, and to take a request

  /// @returns an error number, or 0
  int spawn(const std::string& program, int other_end) {
    // not at the numbers they shall have, so that the order of copying them does not matter
    const int one = ::fcntl(other_end, F_DUPFD_CLOEXEC, 10);
    const int two = memory_ >= 0 ? ::fcntl(memory_, F_DUPFD_CLOEXEC, 10) : -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, one, worker_connection);
    if (two >= 0)
      posix_spawn_file_actions_adddup2(&actions, two, worker_memory);
    else
      posix_spawn_file_actions_addopen(&actions, worker_memory, "/dev/null", O_RDONLY, 0);
    std::string name = program, command = "worker";
    char* arguments_of[] = {name.data(), command.data(), nullptr};
    const int out = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments_of, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(one);
    if (two >= 0) ::close(two);
    return out;
  }

  void greet(const std::string& program) {
    std::vector<std::byte> said;
    const auto until = worker_time_after(patience);
    const bool right = message_stream(connection_).receive(said, 64, until) == result::done &&
                       said == worker_greeting().bytes();
    if (right && (!introduction_ || introduce(until))) return;
    stop();
    throw build_error(program +
                      " is no worker of this version of tilewright; build the program tilewright "
                      "anew, or name another one in TILEWRIGHT_WORKER");
  }

  bool introduce(worker_clock::time_point until) {
    const message_stream stream(connection_);
    std::vector<std::byte> said;
    return stream.send(*introduction_, until) == result::done &&
           stream.receive(said, 64, until) == result::done && said.empty();
  }

  int memory_;
  std::optional<message> introduction_;
  pid_t owner_;
  pid_t pid_ = 0;
  int connection_ = -1;
  int starts_ = 0;
  const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace tilewright::search::detail
