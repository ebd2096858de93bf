#include <tilewright/support/files/file_size_signal.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

using tilewright::support::file_size_signal_block;

namespace {

int seen = 0;
void see(int) { ++seen; }

/// Runs `work` in a child that may write 100 bytes into a file; how the child ended.
template <class Work>
int status_of(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit core{0, 0}, small{100, RLIM_INFINITY};
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_FSIZE, &small);
    char name[] = "/tmp/tilewright-limit-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    _exit(work(file) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool too_large(int file) { return pwrite(file, "x", 1, 200) == -1 && errno == EFBIG; }

}  // namespace

TEST_CASE("a write beyond the limit fails, and the process goes on") {
  const int unguarded = status_of([](int file) { return too_large(file); });
  CHECK(WIFSIGNALED(unguarded));
  CHECK(WTERMSIG(unguarded) == SIGXFSZ);
  CHECK(status_of([](int file) {
          for (int i = 0; i < 3; ++i) {
            const file_size_signal_block outer;
            const file_size_signal_block inner;
            if (!too_large(file) || !too_large(file)) return false;
          }
          return true;
        }) == 0);
}

TEST_CASE("the host's ways with the signal stay as they were") {
  CHECK(status_of([](int file) {
          signal(SIGXFSZ, see);
          {
            const file_size_signal_block block;
            if (!too_large(file)) return false;
          }
          if (seen != 0 || !too_large(file) || seen != 1) return false;  // the host's own write
          sigset_t mine, now;
          sigemptyset(&mine);
          sigaddset(&mine, SIGXFSZ);
          pthread_sigmask(SIG_BLOCK, &mine, nullptr);
          raise(SIGXFSZ);  // one that waits
          {
            const file_size_signal_block block;
            if (!too_large(file)) return false;
          }
          pthread_sigmask(SIG_BLOCK, nullptr, &now);
          if (sigismember(&now, SIGXFSZ) != 1 || seen != 1) return false;
          pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
          return seen == 2;
        }) == 0);
}
