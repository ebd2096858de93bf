#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/worker_message.hpp>
#include <tilewright/search/guard.hpp>
#include <tilewright/search/timer.hpp>
#include <tilewright/search/worker.hpp>

namespace tilewright::search {
namespace detail {

/// What a worker says first; another one has another idea of code or messages.
inline message worker_greeting() {
  constexpr std::uint64_t protocol = 3;
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

}  // namespace detail

TILEWRIGHT_INLINE std::string find_worker() {
  if (const char* named = std::getenv("TILEWRIGHT_WORKER"); named && *named) return named;
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed && detail::is_program((self.parent_path() / "tilewright").string()))
    return (self.parent_path() / "tilewright").string();
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string there = std::string(rest.substr(0, end)) + "/tilewright";
    if (end > 0 && detail::is_program(there)) return there;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

struct worker::state {
  using clock = detail::worker_clock;
  using result = detail::message_stream::result;
  static constexpr double patience = 20;  // s to start, and to take a request
  static constexpr double grace = 2;      // s beyond a deadline, which the worker itself keeps
  static constexpr std::size_t most_answer = 1 << 20;

  state(const argument_memory& a, int t) : arguments(a), threads(t), owner(::getpid()) {}
  ~state() { stop(); }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const argument_memory& arguments;
  int threads;
  pid_t owner;
  pid_t pid = 0;
  int connection = -1;
  int starts = 0;

  void start() {
    if (::getpid() != owner)
      throw build_error("a worker cannot be used in a forked child of the process that started it");
    const std::string program = find_worker();
    if (program.empty())
      throw build_error(
          "no program tilewright was found to run candidates in a process of their own; put it "
          "beside this program or on PATH, or name it in TILEWRIGHT_WORKER");
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw build_error(std::string("no connection for a worker: ") + std::strerror(errno));
    connection = ends[0];
    const int failed = spawn(program, ends[1]);
    ::close(ends[1]);
    if (failed != 0) {
      pid = 0;
      stop();
      throw build_error("worker " + program + " cannot be started: " + std::strerror(failed));
    }
    ++starts;
    greet(program);
  }

  /// @returns an error number, or 0
  int spawn(const std::string& program, int other_end) {
    // not at the numbers they shall have, so that the order of copying them does not matter
    const int one = ::fcntl(other_end, F_DUPFD_CLOEXEC, 10);
    const int two = ::fcntl(arguments.descriptor(), F_DUPFD_CLOEXEC, 10);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, one, worker_connection);
    posix_spawn_file_actions_adddup2(&actions, two, worker_memory);
    std::string name = program, command = "worker";
    char* arguments_of[] = {name.data(), command.data(), nullptr};
    const int out = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments_of, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(one);
    ::close(two);
    return out;
  }

  void greet(const std::string& program) {
    std::vector<std::byte> said;
    const auto until = detail::worker_time_after(patience);
    const bool right =
        detail::message_stream(connection).receive(said, 64, until) == result::done &&
        said == detail::worker_greeting().bytes();
    if (right) {
      detail::message m;
      m.add(static_cast<std::uint64_t>(detail::worker_request::arguments));
      m.add(static_cast<std::uint64_t>(threads));
      detail::write(m, arguments.places());
      if (detail::message_stream(connection).send(m, until) == result::done &&
          detail::message_stream(connection).receive(said, most_answer, until) == result::done &&
          said.empty())
        return;
    }
    stop();
    throw build_error(program +
                      " is no worker of this version of tilewright; build the program tilewright "
                      "anew, or name another one in TILEWRIGHT_WORKER");
  }

  /// @returns how it ended
  std::string stop() {
    if (connection >= 0) ::close(connection);
    connection = -1;
    int status = 0;
    const pid_t ended = std::exchange(pid, 0);
    if (ended <= 0 || ::getpid() != owner) return {};
    // what has not ended by itself is ended now; how, is of interest only in the first case
    for (int i = 0; i < 20; ++i) {
      if (::waitpid(ended, &status, WNOHANG) == ended) return detail::end_text(status);
      ::usleep(1000);
    }
    ::kill(ended, SIGKILL);
    ::waitpid(ended, &status, 0);
    return {};
  }

  measurement ask(const detail::message& m, double deadline) {
    if (pid == 0) start();
    const detail::message_stream stream(connection);
    std::vector<std::byte> said;
    result got = stream.send(m, detail::worker_time_after(patience));
    if (got == result::done)
      got = stream.receive(said, most_answer, detail::worker_time_after(deadline + grace));
    measurement out;
    try {
      if (got == result::done) {
        detail::message_reader reader(said);
        return detail::read_measurement(reader);
      }
    } catch (const build_error& e) {
      out.detail = std::string("the worker answered nonsense: ") + e.what();
    }
    const std::string end = stop();
    out.failed = got == result::late ? failure::timeout : failure::worker;
    if (got == result::late)
      out.detail = "took longer than its deadline, and so the worker was ended";
    if (got == result::closed)
      out.detail = "the worker ended with " + (end.empty() ? "nothing said" : end);
    if (got == result::nonsense) out.detail = "the worker answered nonsense";
    return out;
  }
};

TILEWRIGHT_INLINE worker::worker(const argument_memory& arguments, int threads)
    : state_(std::make_unique<state>(arguments, threads)) {
  state_->start();
}
TILEWRIGHT_INLINE worker::~worker() = default;

TILEWRIGHT_INLINE measurement worker::measure(const backend::artifact& code,
                                              const measure_options& options) {
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::measure));
  detail::write(m, options);
  const std::vector<std::byte> bytes = backend::serialize(code);
  m.add(bytes.data(), bytes.size());
  return state_->ask(m, options.deadline);
}

TILEWRIGHT_INLINE measurement worker::run(const backend::artifact& code, double deadline) {
  detail::message m;
  m.add(static_cast<std::uint64_t>(detail::worker_request::run));
  m.add(deadline);
  const std::vector<std::byte> bytes = backend::serialize(code);
  m.add(bytes.data(), bytes.size());
  return state_->ask(m, deadline);
}

TILEWRIGHT_INLINE pid_t worker::pid() const noexcept { return state_->pid; }
TILEWRIGHT_INLINE int worker::restarts() const noexcept { return state_->starts - 1; }

// ---- the worker's side ----

namespace detail {

/// What a worker knows after the first request.
class worker_service {
 public:
  explicit worker_service(int memory) : memory_(memory) {}

  /// The answer to one request. @throws build_error for what is no request
  message answer(const std::vector<std::byte>& request) {
    message_reader r(request);
    message out;
    switch (static_cast<worker_request>(r.word())) {
      case worker_request::arguments: {
        const auto threads = static_cast<int>(std::clamp<std::uint64_t>(r.word(), 1, 4096));
        arguments_ = std::make_unique<argument_memory>(read_places(r), memory_);
        pool_ = std::make_unique<backend::pool>(threads);
        timer_ = std::make_unique<timer>(*arguments_, pool_->view());
        return out;
      }
      case worker_request::measure: {
        const measure_options options = read_options(r);
        write(out, tried(r, [&](const backend::loaded& c) { return timer_->measure(c, options); }));
        return out;
      }
      case worker_request::run: {
        const double deadline = r.real();
        write(out, tried(r, [&](const backend::loaded& c) { return timer_->run(c, deadline); }));
        return out;
      }
    }
    throw build_error("no request of a worker");
  }

 private:
  template <class Use>
  measurement tried(message_reader& r, Use use) {
    if (!timer_) throw build_error("a request before the arguments");
    const std::vector<std::byte> code = r.bytes();
    try {
      return use(*backend::load(backend::deserialize(code.data(), code.size())));
    } catch (const build_error& e) {
      measurement out;
      out.failed = failure::build;
      out.detail = e.what();
      return out;
    }
  }

  int memory_;
  std::unique_ptr<argument_memory> arguments_;
  std::unique_ptr<backend::pool> pool_;
  std::unique_ptr<timer> timer_;
};

}  // namespace detail

TILEWRIGHT_INLINE bool serve_worker(int connection, int memory) {
  constexpr std::size_t most_request = std::size_t{1} << 28;
  const detail::message_stream stream(connection);
  detail::worker_service service(memory);
  using result = detail::message_stream::result;
  detail::message said = detail::worker_greeting();
  for (;;) {
    if (stream.send(said, detail::worker_time_after(1e6)) != result::done) return true;
    std::vector<std::byte> request;
    const result got = stream.receive(request, most_request, detail::worker_time_after(1e6));
    if (got == result::closed) return true;
    if (got != result::done) return false;
    try {
      said = service.answer(request);
    } catch (const error&) {
      return false;
    }
  }
}

}  // namespace tilewright::search
