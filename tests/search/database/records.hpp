// Database files and records that the tests of what keeps them share.
#pragma once

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/search/database/record.hpp>
#include <tilewright/search/database/sqlite.hpp>

namespace records {

using namespace tilewright::search;

/// A directory that ends with this object.
struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/tilewright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file() const { return path + "/t.db"; }
};

inline record sample(const std::string& trace, double seconds, bool chosen = false,
                     std::int64_t m = 64) {
  record r;
  r.key = {"w" + std::to_string(m), "+avx2", "r64", 2};
  r.family = "matmul";
  r.extents = {m, 64};
  r.trace = trace;
  r.seconds = {seconds * 1.1, seconds, seconds * 1.3};
  r.from = {"test cpu", "19.1", date_now(), 3};
  r.chosen = chosen;
  return r;
}

/// Runs `work` in a child; true when it returned true.
template <class Work>
bool in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// As another program would.
inline void run_sql(const std::string& file, const char* sql) {
  const sqlite_api* api = sqlite();
  REQUIRE(api);
  sqlite3* raw = nullptr;
  REQUIRE(api->open_v2(file.c_str(), &raw, sqlite_api::open_read_write, nullptr) == sqlite_api::ok);
  CHECK(api->exec(raw, sql, nullptr, nullptr, nullptr) == sqlite_api::ok);
  api->close_v2(raw);
}

}  // namespace records
