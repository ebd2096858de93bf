// A process that gets no more threads: calls compute on those there are, and say so.
#include <sys/resource.h>
#include <sys/types.h>

#include <thread>

#include "host.hpp"

using namespace host;

int main() {
  // a user of its own, whose limit on processes does not count what others run
  if (geteuid() == 0 && setuid(54321) != 0) return 0;
  const rlimit one{1, 1};
  setrlimit(RLIMIT_NPROC, &one);
  try {
    std::thread([] {}).join();
    return 0;  // the limit does not hold here
  } catch (const std::system_error&) {
  }
  const errors said;
  for (const mode m : {mode::now, mode::background, mode::off}) {
    tuned_options o = quick(m);
    o.threads = 4;
    const tuned op{scale, o};
    for (const std::size_t n : {5u, 1u << 18}) call(op, n, "without threads");
    op.wait();
    if (m == mode::off || !backend::compiler_available()) continue;
    expect(has(report(op, 5), "the machine gives no more threads"), "the report says so");
  }
  search::database db(":memory:");
  expect(!said.lines().empty(), "it is said on stderr");
}
