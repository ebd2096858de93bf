#include "peer_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <locale>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace gpu_peers {
namespace {

using clock = std::chrono::steady_clock;

constexpr double start_seconds = 120, drop_seconds = 10;
constexpr int most_lost = 3;  // processes, before none is started any more

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
}

double number_in(const std::string& answer, const std::string& word) {
  std::istringstream in(answer);
  in.imbue(std::locale::classic());
  std::string first;
  double out = 0;
  if (!(in >> first >> out) || first != word || !(out > 0))
    throw peer_lost("a peer answers \"" + answer + "\" and not \"" + word + " SECONDS\"");
  return out;
}

}  // namespace

peer_process::peer_process(const std::vector<std::string>& command) {
  // a socket: writing to a process that has ended is an error, and no signal
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw peer_lost(std::string("no socket for a peer: ") + std::strerror(errno));
  std::vector<char*> words;
  for (const std::string& w : command) words.push_back(const_cast<char*>(w.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawnattr_t own_group;  // so that what it starts is ended with it
  posix_spawnattr_init(&own_group);
  posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
  const int failed = ::posix_spawnp(&process_, words[0], &files, &own_group, words.data(), environ);
  posix_spawnattr_destroy(&own_group);
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  socket_ = ends[0];
  if (failed != 0) {
    process_ = -1;
    ::close(socket_);
    throw peer_lost(command[0] + " cannot be started: " + std::strerror(failed));
  }
}

peer_process::~peer_process() {
  if (socket_ >= 0) ::close(socket_);
  if (process_ < 0) return;
  for (int waited = 0; waited < 20; ++waited) {  // its input has ended
    if (::waitpid(process_, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::kill(-process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::string peer_process::how_it_ended() {
  int status = 0;
  for (int waited = 0; waited < 20 && process_ >= 0; ++waited) {
    if (::waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      if (WIFSIGNALED(status)) return ", by signal " + std::to_string(WTERMSIG(status));
      if (WEXITSTATUS(status) != 0) return ", with status " + std::to_string(WEXITSTATUS(status));
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

std::string peer_process::hear(double seconds) {
  const clock::time_point end = clock::now() + milliseconds(seconds);
  for (;;) {
    if (const std::size_t at = heard_.find('\n'); at != heard_.npos) {
      std::string line = heard_.substr(0, at);
      heard_.erase(0, at + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    pollfd ready{socket_, POLLIN, 0};
    const int answers = left.count() <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left.count()));
    if (answers == 0) throw peer_lost("a peer does not answer");
    if (answers < 0) continue;  // by a signal
    char text[512];
    const ssize_t count = ::read(socket_, text, sizeof text);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw peer_lost("a peer has ended" + how_it_ended());
    heard_.append(text, static_cast<std::size_t>(count));
  }
}

std::string peer_process::ask(const std::string& line, double seconds) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw peer_lost("a peer has ended");
    sent += static_cast<std::size_t>(count);
  }
  return hear(seconds);
}

/// A process that was lost is replaced, but not for ever.
void python_peers::lose() {
  process_.reset();
  if (++lost_ < most_lost) return;
  asked_ = true;
  names_.clear();
  missing_ = "peers were lost too often";
}

const std::vector<std::string>& python_peers::names() {
  if (process_ || asked_) return names_;
  names_.clear();
  if (command_.empty()) {
    missing_ = "no script of peers was named";
    asked_ = true;
    return names_;
  }
  try {
    process_ = std::make_unique<peer_process>(command_);
    std::istringstream in(process_->hear(start_seconds));
    std::string word;
    in >> word;
    if (word != "peers") throw peer_lost("a peer begins with \"" + word + "\"");
    while (in >> word) {
      if (word == "none") {
        std::getline(in >> std::ws, missing_);
        break;
      }
      names_.push_back(word.substr(0, word.find('=')));
    }
  } catch (const peer_lost& e) {
    missing_ = e.what();
    process_.reset();
    names_.clear();
  }
  asked_ = names_.empty();
  return names_;
}

std::string python_peers::prepare(const std::string& stage, const std::string& name,
                                  const std::string& peer, double seconds) {
  std::string lost;
  for (const char* how : {"", " careful"}) {
    try {
      if (names().empty()) return lost.empty() ? missing_ : lost;
      const std::string answer =
          process_->ask("prepare " + stage + " " + name + " " + peer + how, seconds);
      if (answer.rfind("none ", 0) == 0) return answer.substr(5);
      number_in(answer, "ready");
      const std::size_t behind = answer.find(' ', answer.find(' ') + 1);
      note_ = behind == answer.npos ? std::string() : answer.substr(behind + 1);
      if (*how) note_ += (note_.empty() ? "" : "; ") + ("readied carefully: " + lost);
      return {};
    } catch (const peer_lost& e) {
      lose();
      lost = e.what();
    }
  }
  return lost;
}

double python_peers::round(double seconds) {
  try {
    if (!process_) throw peer_lost("a peer has ended");
    return number_in(process_->ask("round", seconds), "seconds");
  } catch (const peer_lost&) {
    lose();
    throw;
  }
}

void python_peers::drop() {
  if (!process_) return;
  try {
    process_->ask("drop", drop_seconds);
  } catch (const peer_lost&) {
    lose();
  }
}

}  // namespace gpu_peers
