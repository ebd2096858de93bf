// A process with little address space left: calls compute, or throw what says that there is no memory;
// the process does not end.
#include <sys/resource.h>
#include <sys/wait.h>

#include <new>

#include "host.hpp"

using namespace host;

namespace {

rlim_t used() {  // bytes
  std::ifstream in("/proc/self/statm");
  rlim_t pages = 0;
  in >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// How a child ends that has so many bytes more than it has used: 0 computed, 2 threw.
template <class Work>
int in_child(rlim_t more, const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{used() + more, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    try {
      work();
      _exit(0);
    } catch (const std::bad_alloc&) {
      _exit(2);
    } catch (const error& e) {
      _exit(2);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "an exception that says nothing of memory: %s\n", e.what());
      _exit(3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

int main() {
  tuned_options o = quick();
  o.threads = 2;
  const tuned opened{scale, o};
  bool computed = false;
  for (const bool before : {true, false}) {
    if (!before) call(opened, 10, "with all the address space");  // the code generator is open now
    for (const rlim_t mib : {0, 1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 256, 512, 2048}) {
      const int how = in_child(mib << 20, [&] {
        if (before) {
          const tuned op{scale, o};
          call(op, 100, "with little address space");
        } else {
          call(opened, 10, "of what is there");
          call(opened, 100, "with little address space left");
        }
      });
      expect(how == 0 || how == 2, "the process goes on with " + std::to_string(mib) +
                                       " MiB more, not " + std::to_string(how) +
                                       (before ? " before" : " after") + " its first call");
      computed |= how == 0;
    }
  }
  expect(computed, "calls compute where there is enough");
}
