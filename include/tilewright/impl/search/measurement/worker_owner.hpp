// The process that starts another one as its worker, as the worker sees it.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <thread>

#include <tilewright/search/measurement/worker.hpp>

namespace tilewright::search::detail {

/// Whether this process was started with a connection to another one.
inline bool has_worker_owner() {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(worker_connection, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
}

/// Ends this process with the one that started it, which may die without a word while a candidate
/// runs here. The kernel's own signal for that comes with the end of a thread, and the thread that
/// starts workers may end before they do.
inline void end_with_worker_owner() {
  std::thread([owner = ::getppid()] {
    pollfd connection{worker_connection, POLLRDHUP, 0};
    while (::getppid() == owner && (::poll(&connection, 1, 500) <= 0 || connection.revents == 0)) {
    }
    ::kill(::getpid(), SIGKILL);
  }).detach();
}

}  // namespace tilewright::search::detail
