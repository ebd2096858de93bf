#include <tilewright/backend/linker.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"

using namespace harness;

namespace {

/// Y = exp(X) + nextafter(X, 9) * factor: constants, a parallel region, and calls to the C library.
backend::artifact sample_artifact(double factor = 1) {
  const buffer x = make_buffer("X", dtype::f32, {16}), y = make_buffer("Y", dtype::f32, {16});
  const var i = make_var("i"), v = make_var("v");
  const expr at = i * 8 + v;
  const expr value = call(dtype::f32, "exp", {load(x, {at})}) +
                     call(dtype::f32, "nextafter", {load(x, {at}), real(dtype::f32, 9)}) *
                         real(dtype::f32, factor);
  return backend::compile(
      make("sample", {x, y},
           make_loop(i, 0, 2, make_loop(v, 0, 8, make_store(y, {at}, value), loop_kind::vectorized),
                     loop_kind::parallel)),
      target::host());
}

void check_runs(const backend::loaded& code, double factor) {
  std::vector<float> x(16), y(16);
  for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i) * 0.1f - 0.8f;
  void* data[] = {x.data(), y.data()};
  REQUIRE(code({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0);
  for (std::size_t i = 0; i < 16; ++i)
    CHECK(y[i] ==
          doctest::Approx(std::exp(x[i]) + factor * std::nextafter(x[i], 9.0f)).epsilon(1e-5));
}

/// Links the sample, which is forgotten again, and runs it on zeros.
bool links_and_runs(const backend::artifact& a) {
  const auto code = backend::link(a);
  std::vector<float> x(16), y(16, 7);
  void* data[] = {x.data(), y.data()};
  return (*code)({data, nullptr, nullptr, nullptr, nullptr, nullptr}) == 0 && y[3] == 1;
}

/// What a command prints.
std::string output_of(const std::string& command) {
  std::string out;
  if (FILE* from = ::popen(command.c_str(), "r")) {
    char some[4096];
    for (std::size_t n = 0; (n = std::fread(some, 1, sizeof some, from)) > 0;) out.append(some, n);
    ::pclose(from);
  }
  return out;
}

/// This program again, showing its code, at the test that waits to be looked at.
std::string showing(const std::string& around) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return "TILEWRIGHT_DEBUG_JIT=1 " + around + " '" + self +
         "' -ns -tc='linked code that is looked at' 2>&1";
}

}  // namespace

TEST_CASE("linked code runs, calls the C library and reads its constants") {
  if (!have_compiler()) return;
  const auto code = backend::link(sample_artifact());
  check_runs(*code, 1);
  CHECK(code->code_bytes() > 0);
  CHECK(code->preparation() == nullptr);
}

TEST_CASE("kernels of one name live side by side, in any order") {
  if (!have_compiler()) return;
  auto one = backend::link(sample_artifact(1));
  auto two = backend::link(sample_artifact(2));
  check_runs(*one, 1);
  check_runs(*two, 2);
  one.reset();
  const auto three = backend::link(sample_artifact(3));
  check_runs(*three, 3);
  check_runs(*two, 2);
}

TEST_CASE("what ORC refuses is an error, and nothing is printed or kept") {
  if (!have_compiler()) return;
  backend::artifact a = sample_artifact();
  a.symbol = "another";
  CHECK_THROWS_WITH_AS(backend::link(a), doctest::Contains("another"), build_error);
  CHECK_THROWS_AS(backend::link(backend::artifact{}), build_error);
  check_runs(*backend::link(sample_artifact()), 1);
}

TEST_CASE("threads link at the same time, and a forked child goes on") {
  if (!have_compiler()) return;
  const backend::artifact a = sample_artifact();
  std::vector<std::thread> all;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 50; ++i) right += links_and_runs(a) ? 1 : 0;
    });
  for (int i = 0; i < 10; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(backend::link(a)->code_bytes() > 0 ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  for (std::thread& t : all) t.join();
  CHECK(right == 200);
}

TEST_CASE("a lookup that another thread finishes is waited for") {
  if (!have_compiler()) return;
  const backend::artifact a = sample_artifact();
  std::vector<std::thread> all;
  std::atomic<int> right{0};
  for (int t = 0; t < 32; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 500; ++i) right += links_and_runs(a) ? 1 : 0;
    });
  for (std::thread& t : all) t.join();
  CHECK(right == 32 * 500);
}

TEST_CASE("memory stays flat over linked kernels") {
  if (!have_compiler()) return;
  const backend::artifact a = sample_artifact();
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long pages = 0, set = 0;
    file >> pages >> set;
    return set * 4;  // KiB
  };
  const auto rounds = [&](int n) {
    for (int i = 0; i < n; ++i) backend::link(a);
  };
  rounds(500);
  const long before = resident();
  rounds(5000);
  CHECK(resident() - before < 1024);
}

TEST_CASE("linked code that is looked at") {
  if (!have_compiler() || !backend::shows_code()) return;
  const auto code = backend::link(sample_artifact());
  check_runs(*code, 1);
  std::printf("looked at: %s\n",
              output_of("cat /tmp/perf-" + std::to_string(::getpid()) + ".map").c_str());
  std::filesystem::remove("/tmp/perf-" + std::to_string(::getpid()) + ".map");
}

TEST_CASE("perf finds the functions of linked code, those of parallel loops, too") {
  if (!have_compiler() || backend::shows_code()) return;
  const std::string said = output_of(showing(""));
  INFO(said);
  CHECK(said.find(" tilewright_sample\n") != std::string::npos);
  CHECK(said.find(" tilewright_sample.") != std::string::npos);
}

TEST_CASE("a debugger stops in linked code and knows its name") {
  if (!have_compiler() || backend::shows_code()) return;
  if (std::system("command -v gdb >/dev/null 2>&1") != 0) {
    MESSAGE("no gdb: debugging is not tested");
    return;
  }
  const std::string said = output_of(showing(
      "gdb -batch -nx -ex 'set breakpoint pending on' -ex 'set debuginfod enabled off' -ex 'break "
      "tilewright_sample' -ex run -ex 'info symbol $pc' -ex 'kill' --args"));
  INFO(said);
  if (said.find("ptrace") != std::string::npos && said.find("not permitted") != std::string::npos) {
    MESSAGE("gdb may not trace here: debugging is not tested");
    return;
  }
  CHECK(said.find("tilewright_sample in section") != std::string::npos);
}
