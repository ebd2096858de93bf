// A process that is killed while it tunes a network loses nothing that it had measured: the database
// keeps its records, and the network runs on them.
//
// TILEWRIGHT_KILLS says how many times; each round starts this program again as the process that is
// killed.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/support/random.hpp>

#include "model/array_file.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

constexpr const char* database_variable = "TILEWRIGHT_KILLED_DATABASE";

model tiny_network(const std::string& database, tilewright::mode how, double seconds) {
  model_options o;
  o.database = database;
  o.mode = how;
  o.seconds = seconds;
  o.threads = 1;
  return load_onnx(data_folder + "tiny_cnn.onnx", o);
}

/// This program as the process that tunes until it is killed.
pid_t start_tuning(const std::string& database) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv(database_variable, database.c_str(), 1);
  ::execl("/proc/self/exe", "test_model", "--no-skip", "--test-case=killed tuning: the process",
          static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

TEST_CASE("killed tuning: the process" * doctest::skip()) {
  const char* database = std::getenv(database_variable);
  if (!database) return;  // somebody runs all tests
  model m = tiny_network(database, mode::off, 0);
  for (;;) m.tune(0.5);  // kernels alone, then in place, again and again
}

TEST_CASE("killed tuning: what was measured stays, and the network runs") {
  const char* text = std::getenv("TILEWRIGHT_KILLS");
  const int kills = text ? std::atoi(text) : 3;
  const std::string path = "/tmp/tilewright_killed." + std::to_string(::getpid()) + ".db";
  const network::constant x = read_array("tiny_cnn.x.npy"), y = read_array("tiny_cnn.y.npy");
  support::random random(7);
  std::size_t records = 0, first_records = 0;
  for (int k = 0; k < kills; ++k) {
    INFO("kill ", k);
    const pid_t child = start_tuning(path);
    REQUIRE(child > 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random.below(1200)));
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // it was still tuning
    {
      const search::database db(path);
      const std::size_t now = db.all().size();
      CHECK(db.persistent());
      CHECK(db.skipped() == 0);
      CHECK(now >= records);
      records = now;
      if (k == 0) first_records = now;
    }
    const model m = tiny_network(path, mode::off, 0);
    std::vector<float> made(5);
    m.run({{"x", view(reinterpret_cast<const float*>(x.data()), {1, 3, 13, 11})}}, {{"y", made}});
    for (std::size_t i = 0; i < 5; ++i)
      CHECK(made[i] == doctest::Approx(y.number(static_cast<std::int64_t>(i))).epsilon(1e-5));
  }
  if (kills > 1) CHECK(records > first_records);  // each went on
  for (const char* end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
}
