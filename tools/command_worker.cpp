// tilewright worker: runs candidates for another process. The library starts it; people do not.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <CLI/CLI.hpp>

#include <tilewright/search/worker.hpp>

#include "command.hpp"

namespace tool {
namespace {

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
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // who started it may die without a word
  using namespace tilewright::search;
  return serve_worker(worker_connection, worker_memory) ? fine : failed;
}

}  // namespace

std::function<int()> declare_worker(CLI::App&) { return work; }

}  // namespace tool
