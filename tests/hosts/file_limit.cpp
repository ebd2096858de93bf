// A process whose files may not grow, with the signal of that limit at its default: records stay in
// memory, and the process lives.
#include <sys/resource.h>

#include "host.hpp"

using namespace host;

int main() {
  const folder f;
  const errors said;  // in a file, which may not grow either
  for (const rlim_t bytes : {rlim_t{0}, rlim_t{8192}, rlim_t{100000}}) {
    tuned_options o = quick();
    o.verbose = true;
    o.database = f.path + "/" + std::to_string(bytes) + ".db";
    const rlimit limit{bytes, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    {
      const tuned op{scale, o};
      for (std::size_t n = 1; n < 6; ++n) call(op, 100 * n, "with a limit on files");
      const tuned again{scale, o};
      call(again, 100, "the second time");
    }
    setrlimit(RLIMIT_FSIZE, &none);
  }
}
