#include <tilewright/search/measurement/guard.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <search/faulty_code.hpp>

using namespace tilewright::search;

namespace {

void write_at(void* p) { *static_cast<volatile char*>(p) = 1; }
void nothing(void*) {}

void nested(void* p) {
  if (run_guarded(&write_at, p) != SIGSEGV) std::abort();
  raise(SIGFPE);
}

}  // namespace

TEST_CASE("data end at an inaccessible page and begin behind one" *
          doctest::skip(!faulty::handlers_usable)) {
  for (const std::size_t bytes : {1u, 64u, 4096u, 5000u, 100000u}) {
    guarded_buffer b(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 0);
    std::memset(b.data(), 1, bytes);
    const fault_handlers handlers;
    CHECK(run_guarded(&write_at, b.data() + (bytes + 63) / 64 * 64) == SIGSEGV);
    CHECK(run_guarded(&write_at, b.data() - 2 * 4096 - 64) == SIGSEGV);
    CHECK(run_guarded(&write_at, b.data()) == 0);
  }
  const guarded_buffer exact(5000, {4});
  const fault_handlers handlers;
  CHECK(run_guarded(&write_at, exact.data() + 5000) == SIGSEGV);
  CHECK(run_guarded(&write_at, exact.data() + 4999) == 0);
}

TEST_CASE("data may begin beyond a line, and still end at an inaccessible page" *
          doctest::skip(!faulty::handlers_usable)) {
  const fault_handlers handlers;
  for (const std::size_t bytes : {1u, 4080u, 4096u, 5000u}) {
    const guarded_buffer b(bytes, {64, 16});
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % 64 == 16);
    CHECK(run_guarded(&write_at, b.data()) == 0);
    CHECK(run_guarded(&write_at, b.data() + bytes - 1) == 0);
    CHECK(run_guarded(&write_at, b.data() + bytes + 64) == SIGSEGV);
  }
}

TEST_CASE("the pages around data are open while they are asked to be" *
          doctest::skip(!faulty::handlers_usable)) {
  const fault_handlers handlers;
  guarded_buffer b(5000);
  b.make_read_only();
  for (int round = 0; round < 2; ++round) {
    b.open_guards(true);
    CHECK(run_guarded(&write_at, b.data() + 5056) == 0);
    CHECK(run_guarded(&write_at, b.data() - 3 * 4096) == 0);
    CHECK(run_guarded(&write_at, b.data()) == SIGSEGV);  // what is read only stays so
    b.open_guards(false);
    CHECK(run_guarded(&write_at, b.data() + 5056) == SIGSEGV);
    CHECK(run_guarded(&write_at, b.data() - 3 * 4096) == SIGSEGV);
  }
  guarded_buffer().open_guards(true);
}

TEST_CASE("faults are caught per thread, nest, and name their signal" *
          doctest::skip(!faulty::handlers_usable)) {
  const fault_handlers handlers;
  const guarded_buffer b(8, {1});
  for (int i = 0; i < 100; ++i) CHECK(run_guarded(&write_at, b.data() + 8) == SIGSEGV);
  CHECK(run_guarded(&nested, b.data() + 8) == SIGFPE);
  std::thread([&] { CHECK(run_guarded(&write_at, b.data() + 8) == SIGSEGV); }).join();
  CHECK(run_guarded(&nothing, nullptr) == 0);
  CHECK(std::string(fault_name(SIGILL)) == "SIGILL");
}

TEST_CASE("faults outside guarded calls go where they went before") {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, [](int) { _exit(42); });
    const fault_handlers handlers;
    const guarded_buffer b(8, {1});
    write_at(b.data() + 8);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 42);
}
