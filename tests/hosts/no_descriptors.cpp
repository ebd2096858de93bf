// A process whose file descriptors are used up, before its first call or after it: calls compute, on
// what was opened before, and records stay in memory until there are descriptors again.
#include <sys/resource.h>

#include "host.hpp"

using namespace host;

namespace {

/// Uses up what a limit leaves.
class hoard {
 public:
  hoard() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    before_ = limit;
    limit.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int f = 0; f >= 0;) {
      f = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (f >= 0) all_.push_back(f);
    }
  }
  ~hoard() {
    for (const int f : all_) close(f);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  std::vector<int> all_;
  rlimit before_{};
};

}  // namespace

int main() {
  const folder f;
  tuned_options o = quick();
  o.threads = 2;
  o.database = f.path + "/first.db";
  {
    const hoard all;
    const tuned op{scale, o};
    for (const std::size_t n : {100u, 1u << 17}) call(op, n, "without descriptors");
    expect(!report(op, 100).empty(), "a report");
  }
  o.database = f.path + "/second.db";
  const tuned opened{scale, o};
  call(opened, 100, "with descriptors");
  {
    const hoard all;
    for (const std::size_t n : {100u, 200u, 300u}) call(opened, n, "after they were used up");
    const tuned other{scale, o};
    call(other, 100, "of another op");
  }
  call(opened, 400, "with descriptors again");
  expect(!search::database::reading(o.database)->all().empty(), "records are in the file");
}
