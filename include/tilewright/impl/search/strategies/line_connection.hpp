// Lines of text over a socket: how programs outside are spoken to.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <tilewright/impl/search/measurement/fleet/fleet_message.hpp>

namespace tilewright::search::detail {

/// The other side may be anything: all that is read of it is bounded, and a signal of a closed pipe is
/// no end of this process.
class line_connection {
 public:
  line_connection() = default;
  explicit line_connection(socket_handle s) : socket_(std::move(s)) {}
  explicit operator bool() const { return static_cast<bool>(socket_); }
  void close() { socket_.close(); }

  /// @returns why it was not sent; empty where it was
  std::string send(std::string_view line, double seconds, const std::function<bool()>& over) {
    std::string whole(line);
    whole += '\n';
    const worker_clock::time_point until = worker_time_after(seconds);
    for (std::size_t at = 0; at < whole.size();) {
      const ssize_t n =
          ::send(socket_.get(), whole.data() + at, whole.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0)
        at += static_cast<std::size_t>(n);
      else if (const std::string problem = wait(POLLOUT, n, until, over); !problem.empty())
        return problem;
    }
    return {};
  }

  /// A line without its end. @returns why there is none; empty where there is
  std::string receive(std::string& line, std::size_t most, double seconds,
                      const std::function<bool()>& over) {
    const worker_clock::time_point until = worker_time_after(seconds);
    std::size_t searched = 0;
    for (;;) {
      const std::size_t end = read_.find('\n', searched);
      if (end != std::string::npos) {
        line = read_.substr(0, end);
        read_.erase(0, end + 1);
        return {};
      }
      searched = read_.size();
      if (read_.size() > most)
        return "it wrote a line of more than " + std::to_string(most) + " bytes";
      char some[4096];
      const ssize_t n = ::recv(socket_.get(), some, sizeof some, MSG_DONTWAIT);
      if (n > 0)
        read_.append(some, static_cast<std::size_t>(n));
      else if (const std::string problem = wait(POLLIN, n, until, over); !problem.empty())
        return problem;
    }
  }

 private:
  /// After a transfer of `n` bytes, none: until there is something to transfer.
  std::string wait(short event, ssize_t n, worker_clock::time_point until,
                   const std::function<bool()>& over) const {
    if (n == 0) return "it ended";
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return "it ended";
    if (worker_clock::now() > until) return "it gave no answer in time";
    if (over && over()) return "the time of the session is over";
    pollfd one{socket_.get(), event, 0};
    ::poll(&one, 1, 20);
    return {};
  }

  socket_handle socket_;
  std::string read_;
};

}  // namespace tilewright::search::detail
