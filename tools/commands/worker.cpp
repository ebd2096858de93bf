// tilewright worker: runs candidates for another process. The library starts it; on machines where
// candidates are to be timed people do, with --listen, or ssh does, between pipes.
#include <sys/stat.h>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <tilewright/impl/search/measurement/worker_owner.hpp>
#include <tilewright/search/measurement/worker.hpp>
#include <tilewright/search/measurement/worker_server.hpp>

#include "../command.hpp"
#include "../worker_token.hpp"

namespace tool {
namespace {

/// Serves one client after the other, without end.
int serve(const std::string& address, const std::string& token_file) {
  using namespace tilewright::search;
  worker_server server(worker_address::parse(address), worker_token(token_file));
  say("listening at " + server.address().text() + "\n");
  for (;;) complain("a client: " + server.serve_one());
}

/// Whether a descriptor is a pipe or a socket, as ssh and shells connect programs.
bool is_connection(int descriptor) {
  struct stat what {};
  return ::fstat(descriptor, &what) == 0 && (S_ISFIFO(what.st_mode) || S_ISSOCK(what.st_mode));
}

int work() {
  const bool connected = tilewright::search::detail::has_worker_owner();
  if (!connected && is_connection(0) && is_connection(1))
    return tilewright::search::serve_pipes(0, 1) ? fine : failed;
  if (!connected) {
    complain(
        "worker is started by programs that tune, with a connection to them; there is none. For "
        "other machines: --listen HOST:PORT, or tune --worker-at \"ssh HOST tilewright worker\"");
    return bad_input;
  }
  using namespace tilewright::search;
  tilewright::search::detail::end_with_worker_owner();
  return serve_worker(worker_connection, worker_memory) ? fine : failed;
}

}  // namespace

std::function<int()> declare_worker(CLI::App& app) {
  struct options {
    std::string listen, token_file;
  };
  const auto o = std::make_shared<options>();
  app.add_option("--listen", o->listen,
                 "HOST:PORT where tune --worker-at finds it; 127.0.0.1 and a tunnel of ssh unless "
                 "the network is trusted; port 0: any that is free");
  app.add_option("--token-file", o->token_file, worker_token_help)->needs("--listen");
  return [o] { return o->listen.empty() ? work() : serve(o->listen, o->token_file); };
}

}  // namespace tool
