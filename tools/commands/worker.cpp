// tilewright worker: runs candidates for another process. The library starts it; people do not.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include <CLI/CLI.hpp>

#include <tilewright/search/measurement/worker.hpp>

#include "../command.hpp"

namespace tool {
namespace {

/// Ends this process with the one that started it, which may die without a word while a candidate
/// runs here. The kernel's own signal for that comes with the end of a thread, and the thread that
/// starts workers may end before they do.
void end_with(pid_t owner) {
  pollfd connection{tilewright::search::worker_connection, POLLRDHUP, 0};
  while (::getppid() == owner && (::poll(&connection, 1, 500) <= 0 || connection.revents == 0)) {
  }
  ::kill(::getpid(), SIGKILL);
}

int work() {
  int type = 0;
  socklen_t size = sizeof type;
  const bool connected =
      ::getsockopt(tilewright::search::worker_connection, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
      type == SOCK_STREAM;
  if (!connected) {
    complain("worker is started by programs that tune, with a connection to them; there is none");
    return bad_input;
  }
  std::thread([owner = ::getppid()] { end_with(owner); }).detach();
  using namespace tilewright::search;
  return serve_worker(worker_connection, worker_memory) ? fine : failed;
}

}  // namespace

std::function<int()> declare_worker(CLI::App&) { return work; }

}  // namespace tool
