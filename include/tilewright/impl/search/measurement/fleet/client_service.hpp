// How a process serves one client, over a connection or over two pipes, whatever it does for it.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

/// Serves one client with a `Service` of its own. @returns an exit code
template <class Service>
int serve_client(int connection, const std::string& token) {
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
  Service service;
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

/// As serve_pipes, with a service of the caller's choice.
template <class Service>
bool serve_pipes_with(int input, int output) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const socket_handle ours(ends[0]);
  socket_handle theirs(ends[1]);
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
      code = serve_client<Service>(theirs.get(), {});
    } catch (const std::exception&) {  // what was sent is no message
    }
    ::_exit(code);
  }
  theirs.close();
  carry(input, output, ours.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tilewright::search::detail
