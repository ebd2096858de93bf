// A worker that other machines reach: over a socket, `tilewright worker --listen HOST:PORT`, or over
// the pipes of a command that starts it, as `ssh board tilewright worker`.
//
// It runs native code that its clients send. It therefore asks for a token and listens where it is
// told to, 127.0.0.1 as a rule; the token keeps strangers and mistakes out, and is not hidden from
// who can read the wire: between hosts, ssh carries the connection (ssh -L 7000:127.0.0.1:7000
// board tilewright worker --listen 127.0.0.1:7000). One client is served at a time, in a process of
// its own, since two that measure at once would disturb each other; code that kills this process
// ends its connection and nothing more.
#pragma once

#include <cstdint>
#include <string>

#include <tilewright/config.hpp>

namespace tilewright::search {

/// Where a worker listens, or the command of a shell that starts one on its input and output.
struct worker_address {
  std::string host;
  std::uint16_t port = 0;
  std::string command = {};  // empty: it listens

  /// "host:port", "[::1]:7000"; what has a space in it is a command, "ssh board tilewright worker".
  /// @throws argument_error
  static worker_address parse(const std::string& text);
  std::string text() const;
};

class worker_server {
 public:
  /// Listens. Requires: 1. the token is not empty.
  /// @param at port 0: any that is free
  /// @throws argument_error
  /// @throws build_error when it cannot listen there
  worker_server(const worker_address& at, std::string token);
  ~worker_server();
  worker_server(const worker_server&) = delete;
  worker_server& operator=(const worker_server&) = delete;

  const worker_address& address() const noexcept { return address_; }

  /// What `serve_one` returns for a client that went when it liked to.
  static constexpr const char* hung_up = "the client hung up";

  /// Serves the next client until it hangs up. Call it before this process has used a tuner or a
  /// pool of threads: the client's process is a fork.
  /// @returns how it ended, for people
  std::string serve_one();

 private:
  worker_address address_;
  std::string token_;
  int listening_ = -1;
};

/// Serves one client over two pipes or sockets until it hangs up, in a process of its own as
/// `worker_server` does. No token is asked for: who started this process may run code in it anyway.
/// Call it before this process has used a tuner or a pool of threads.
/// @returns whether the client was served to its end
bool serve_pipes(int input, int output);

}  // namespace tilewright::search
