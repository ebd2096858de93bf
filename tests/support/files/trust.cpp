#include <tilewright/support/files/trust.hpp>

#include <doctest/doctest.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace tilewright;

namespace {

struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/tilewright-trust-XXXXXX";
    path = mkdtemp(name);
    std::ofstream(file()) << "code";
    chmod(path.c_str(), 0755);
    chmod(file().c_str(), 0644);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file() const { return path + "/kernels"; }
};

/// Whether a process of another user takes the file.
bool is_trusted_by(uid_t user, const std::string& file) {
  const pid_t other = fork();
  if (other == 0) _exit(setuid(user) != 0 ? 2 : support::untrusted(file).empty() ? 0 : 1);
  int status = 0;
  CHECK(waitpid(other, &status, 0) == other);
  CHECK((status == 0 || status == 1 << 8));
  return status == 0;
}

}  // namespace

TEST_CASE("code is taken from files and folders that nobody else can write") {
  const folder f;
  CHECK(support::untrusted(f.file()).empty());
  chmod(f.path.c_str(), 0777);
  CHECK(support::untrusted(f.file()) == f.path + " can be written by others; run chmod go-w on it");
  chmod(f.path.c_str(), 0755);
  chmod(f.file().c_str(), 0666);
  CHECK(support::untrusted(f.file()) ==
        f.file() + " can be written by others; run chmod go-w on it");
}

TEST_CASE("code that root has installed is taken by all users, and no other user's" *
          doctest::skip(geteuid() != 0)) {
  constexpr uid_t one = 12345, another = 12346;
  const folder f;
  CHECK(is_trusted_by(one, f.file()));
  REQUIRE(chown(f.file().c_str(), one, one) == 0);
  CHECK(is_trusted_by(one, f.file()));
  CHECK(!is_trusted_by(another, f.file()));
  REQUIRE(chown(f.path.c_str(), one, one) == 0);
  CHECK(is_trusted_by(one, f.file()));
  CHECK(!is_trusted_by(another, f.file()));
  CHECK(support::untrusted(f.file()) ==
        f.path +
            " belongs to another user; copy the file into a folder of your own, or install it as "
            "root");
}
