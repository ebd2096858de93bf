#include <tilewright/impl/target/cpu_quota.hpp>

#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace tilewright::target::detail;

namespace {

/// Control groups as a machine shows them, with what a process says of its own.
struct groups {
  std::filesystem::path root;
  groups() {
    char name[] = "/tmp/tilewright-quota-XXXXXX";
    root = mkdtemp(name);
  }
  ~groups() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  }
  int cores() const { return quota_cores((root / "cgroup").string(), (root / "self").string()); }
};

}  // namespace

TEST_CASE("a container with a quota has as many cores as its quota is worth") {
  const groups g;
  CHECK(g.cores() == no_quota);
  g.write("self", "0::/");
  g.write("cgroup/cpu.max", "100000 100000");
  CHECK(g.cores() == 1);
  g.write("cgroup/cpu.max", "150000 100000");
  CHECK(g.cores() == 2);
  g.write("cgroup/cpu.max", "20000 100000");
  CHECK(g.cores() == 1);
  for (const char* none :
       {"max 100000", "", "0 100000", "-1 100000", "100000 0", "x y", "1000000"}) {
    g.write("cgroup/cpu.max", none);
    CHECK(g.cores() == no_quota);
  }
}

TEST_CASE("the smallest quota of a group and of those around it counts") {
  const groups g;
  g.write("self", "0::/machine/service");
  g.write("cgroup/machine/cpu.max", "300000 100000");
  CHECK(g.cores() == 3);
  g.write("cgroup/machine/service/cpu.max", "max 100000");
  CHECK(g.cores() == 3);
  g.write("cgroup/machine/service/cpu.max", "200000 100000");
  CHECK(g.cores() == 2);
  g.write("cgroup/machine/other/cpu.max", "100000 100000");
  CHECK(g.cores() == 2);
}

TEST_CASE("control groups of version 1 have a quota, too") {
  const groups g;
  g.write("self", "9:name=systemd:/\n4:cpu,cpuacct:/docker/x\n2:cpuset:/");
  g.write("cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1");
  g.write("cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000");
  CHECK(g.cores() == no_quota);
  g.write("cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000");
  CHECK(g.cores() == 3);
  g.write("self", "no group: at all\n4:cpu");
  CHECK(g.cores() == no_quota);
}
