#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include <tilewright/backend/loader.hpp>
#include <tilewright/backend/pool.hpp>
#include <tilewright/impl/search/measurement/fleet_message.hpp>
#include <tilewright/impl/search/measurement/worker_process.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/search/measurement/worker_server.hpp>
#include <tilewright/support/numbers/number_text.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search {
namespace detail {

/// What one client asked for, in the process that serves it.
class fleet_service {
 public:
  /// @throws build_error for what is no request
  message answer(const std::vector<std::byte>& request) {
    message_reader r(request);
    switch (static_cast<fleet_request>(r.word())) {
      case fleet_request::workload: return prepared(r);
      case fleet_request::measure: return measured(r);
      case fleet_request::build: return built_and_measured(r);
    }
    throw build_error("no request of a fleet");
  }

 private:
  /// Answers with a text: why the workload cannot be run here; empty: it can.
  message prepared(message_reader& r) {
    message out;
    try {
      const auto threads = static_cast<int>(std::clamp<std::uint64_t>(r.word(), 1, 4096));
      const target::cpu code = read_cpu(r);
      const std::string text = r.text();
      std::vector<argument_layout> layouts = read_layouts(r);
      runner_.reset();
      pool_.emplace(threads);
      if (!target::runs_on(code, target::host()))
        throw build_error("its processor does not run code for " + code.name);
      target_ = code;
      runner_ = std::make_unique<runner>(ir::parse(text), std::move(layouts), pool_->view(), 1);
      out.add(std::string_view());
    } catch (const std::exception& e) {
      out.add(std::string_view(e.what()).substr(0, 1000));
    }
    return out;
  }

  message measured(message_reader& r) {
    if (!runner_) throw build_error("a request before the workload");
    const measure_options options = read_options(r);
    const std::vector<std::byte> code = r.bytes();
    measurement m;
    try {
      m = runner_->measure(*backend::load(backend::deserialize(code.data(), code.size())), options);
    } catch (const error& e) {
      m.failed = failure::build;
      m.detail = e.what();
    }
    message out;
    write(out, m);
    return out;
  }

  /// Answers with why there is no code, the code, and its times.
  message built_and_measured(message_reader& r) {
    if (!runner_) throw build_error("a request before the workload");
    const measure_options options = read_options(r);
    const std::string text = r.text();
    built b;
    try {
      b = build(ir::parse(text), *target_);
    } catch (const error& e) {
      b.error = e.what();
    }
    message out;
    out.add(std::string_view(b.error).substr(0, 1000));
    const std::vector<std::byte> code =
        b.code ? backend::serialize(b.artifact) : std::vector<std::byte>();
    out.add(code.data(), code.size());
    measurement m;
    if (b.code)
      m = runner_->measure(*b.code, options);
    else
      m.failed = failure::build;
    write(out, m);
    return out;
  }

  std::optional<target::cpu> target_;
  std::optional<backend::pool> pool_;
  std::unique_ptr<runner> runner_;
};

/// Serves one client. @returns an exit code
inline int serve_client(int connection, const std::string& token) {
  constexpr double soon = 10, long_time = 1e6;  // s
  using result = message_stream::result;
  const message_stream stream(connection);
  std::vector<std::byte> request;
  if (stream.receive(request, 4096, worker_time_after(soon)) != result::done) return 1;
  message said;
  const std::string refused = why_refused(request, token);
  said.add(std::string_view(refused));
  if (refused.empty()) write(said, target::host());
  if (stream.send(said, worker_time_after(soon)) != result::done || !refused.empty()) return 1;
  // what runs when the client hangs up, perhaps without end, is of no use to anybody
  std::thread([connection] {
    pollfd one{connection, POLLRDHUP, 0};
    while (::poll(&one, 1, 1000) <= 0 || one.revents == 0) {
    }
    ::usleep(500000);  // what is at its end may end by itself
    ::kill(::getpid(), SIGKILL);
  }).detach();
  fleet_service service;
  while (stream.receive(request, most_fleet_message, worker_time_after(long_time)) ==
         result::done) {
    said = service.answer(request);
    if (stream.send(said, worker_time_after(soon)) != result::done) break;
  }
  return 0;
}

/// Carries bytes both ways until the input and the connection have ended.
inline void carry(int input, int output, int connection) {
  pollfd ends[] = {{input, POLLIN, 0}, {connection, POLLIN, 0}};
  std::byte some[1 << 16];
  const auto passed = [&](int from, int to) {
    const ssize_t n = ::read(from, some, sizeof some);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    ssize_t at = 0;
    while (at < n) {
      const ssize_t written = ::write(to, some + at, static_cast<std::size_t>(n - at));
      if (written < 0 && errno != EINTR) return false;
      at += std::max<ssize_t>(written, 0);
    }
    return n > 0;
  };
  while (ends[1].fd >= 0) {
    if (::poll(ends, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (ends[1].revents != 0 && !passed(connection, output)) return;
    if (ends[0].fd >= 0 && ends[0].revents != 0 && !passed(input, connection)) {
      ends[0].fd = -1;
      ::shutdown(connection, SHUT_WR);
    }
  }
}

}  // namespace detail

TILEWRIGHT_INLINE bool serve_pipes(int input, int output) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const detail::socket_handle ours(ends[0]);
  detail::socket_handle theirs(ends[1]);
  ::signal(SIGPIPE, SIG_IGN);  // a client that is gone is the end of the output
  const pid_t server = ::getpid(), child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) ::_exit(1);
    ::close(ours.get());
    ::dup2(2, output);  // what code may print is not for the client
    int code = 1;
    try {
      code = detail::serve_client(theirs.get(), {});
    } catch (const std::exception&) {  // what was sent is no message
    }
    ::_exit(code);
  }
  theirs.close();
  detail::carry(input, output, ours.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TILEWRIGHT_INLINE worker_address worker_address::parse(const std::string& text) {
  if (text.find(' ') != std::string::npos) return {{}, 0, text};
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : support::read_number<std::uint16_t>(text.substr(colon + 1));
  std::string host = text.substr(0, std::min(colon, text.size()));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (!port || host.empty())
    throw argument_error("worker: \"" + text + "\" is no address; write one as 127.0.0.1:7000");
  return {host, *port, {}};
}

TILEWRIGHT_INLINE std::string worker_address::text() const {
  if (!command.empty()) return command;
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

TILEWRIGHT_INLINE worker_server::worker_server(const worker_address& at, std::string token)
    : address_(at), token_(std::move(token)) {
  if (!at.command.empty())
    throw argument_error("worker: it cannot listen at a command, " + at.command);
  if (token_.empty())
    throw argument_error("worker: it has no token (requirement 1), and so would serve anybody");
  const std::string problem = detail::with_addresses(at, true, [&](const addrinfo& a) {
    detail::socket_handle s(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC, a.ai_protocol));
    const int on = 1;
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (!s || ::setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        ::bind(s.get(), a.ai_addr, a.ai_addrlen) != 0 || ::listen(s.get(), 16) != 0 ||
        ::getsockname(s.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
      return std::string(std::strerror(errno));
    address_.port =
        ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                          : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
    listening_ = ::dup(s.get());
    return std::string();
  });
  if (listening_ < 0) throw build_error("worker cannot listen at " + at.text() + ": " + problem);
}

TILEWRIGHT_INLINE worker_server::~worker_server() {
  if (listening_ >= 0) ::close(listening_);
}

TILEWRIGHT_INLINE std::string worker_server::serve_one() {
  const detail::socket_handle client(::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) return std::string("no client: ") + std::strerror(errno);
  detail::prepare(client.get());
  const pid_t server = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return std::string("no process for a client: ") + std::strerror(errno);
  if (child == 0) {
    ::close(listening_);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // who ends a worker ends what it runs
    if (::getppid() != server) ::_exit(1);
    int code = 1;
    try {
      code = detail::serve_client(client.get(), token_);
    } catch (const std::exception&) {  // what was sent is no message
    }
    ::_exit(code);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::string(hung_up)
                                                       : "ended with " + detail::end_text(status);
}

}  // namespace tilewright::search
