// A container that may use one CPU of a large machine: calls run on one thread. The quota stands where
// the library reads it, in a view of the file system that this process alone has.
#include <sched.h>
#include <sys/mount.h>

#include <tilewright/backend/pool.hpp>
#include <tilewright/target/cpu.hpp>

#include "host.hpp"

using namespace host;

namespace {

bool in_a_container() {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (mount("tmpfs", "/sys/fs/cgroup", "tmpfs", 0, nullptr) != 0) return false;
  std::ofstream("/sys/fs/cgroup/cpu.max") << "100000 100000\n";
  return std::ifstream("/sys/fs/cgroup/cpu.max").good();
}

}  // namespace

int main() {
  if (!in_a_container())
    return 0;  // this user may not: tests/target/cpu_quota.cpp reads such files
  unsetenv("TILEWRIGHT_NUM_THREADS");
  expect(target::host().cores == 1, "one core is seen");
  expect(backend::pool::shared().threads() == 1, "the pool has one thread");
  const tuned op{scale, quick()};
  call(op, 1 << 18, "in a container");
  expect(has(report(op, 1 << 18), ", 1 threads"), "the report says so: " + report(op, 1 << 18));
  int threads = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++threads;
  expect(threads == 1, "no thread waits for work: " + std::to_string(threads));
}
