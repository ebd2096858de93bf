#include <tilewright/search/measurement/argument_memory.hpp>

#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "search/faulty_code.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

std::vector<argument_place> two_places() {
  argument_place input{400, {64, 16}, 0, {10, 1}, false, true},
      output{100, {}, 40, {1}, true, false};
  return {input, output};
}

void write_byte(void* at) { *static_cast<volatile char*>(at) = 1; }

}  // namespace

TEST_CASE("a limit on the size of files refuses shared memory and ends nothing") {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &none);
    try {
      argument_memory m(two_places(), argument_memory::sharing::possible);
    } catch (const build_error&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("sealed memory: inputs cannot be written, outputs go back") {
  argument_memory m(two_places());
  CHECK(m.size() == 500);
  CHECK(reinterpret_cast<std::uintptr_t>(m.data()[0]) % 64 == 16);
  CHECK(m.strides() == std::vector<std::int64_t>{10, 1, 1});
  CHECK(static_cast<std::byte*>(m.data()[1]) == m.buffer(1).data() + 40);
  CHECK_FALSE(m.updates());
  std::memset(m.buffer(0).data(), 7, 400);
  std::memset(m.buffer(1).data(), 9, 100);
  m.seal();
  write_byte(m.data()[1]);
  CHECK(*static_cast<char*>(m.data()[1]) == 1);
  CHECK(static_cast<char>(*m.sealed(1)) == 9);
  m.reset();
  CHECK(*static_cast<char*>(m.data()[1]) == 9);
  if (faulty::handlers_usable) {
    const fault_handlers handlers;
    CHECK(run_guarded(&write_byte, m.data()[0]) != 0);
  }
  CHECK(*static_cast<char*>(m.data()[0]) == 7);
}

TEST_CASE("shared memory is the same for both sides") {
  argument_memory mine(two_places(), argument_memory::sharing::possible);
  std::memset(mine.buffer(0).data(), 3, 400);
  mine.seal();
  argument_memory theirs(two_places(), mine.descriptor());
  CHECK(theirs.descriptor() == -1);
  CHECK(*static_cast<char*>(theirs.data()[0]) == 3);
  write_byte(theirs.data()[1]);
  CHECK(*static_cast<char*>(mine.data()[1]) == 1);
}

TEST_CASE("places that do not lie in the shared memory are refused") {
  const argument_memory mine(two_places(), argument_memory::sharing::possible);
  const auto refuses = [&](auto change) {
    std::vector<argument_place> places = two_places();
    change(places);
    CHECK_THROWS_AS(argument_memory(places, mine.descriptor()), build_error);
  };
  refuses([](auto& p) { p[1].bytes = std::size_t{1} << 40; });
  refuses([](auto& p) { p[1].bytes = static_cast<std::size_t>(-1); });
  refuses([](auto& p) { p[0].element0 = 400; });
  refuses([](auto& p) { p[0].at.alignment = 48; });
  refuses([](auto& p) { p[0].at.alignment = 0; });
  refuses([](auto& p) { p[0].at.beyond = 64; });
  refuses([](auto& p) { p.resize(40, p[0]); });
  CHECK_THROWS_AS(argument_memory(two_places(), -1), build_error);
}

TEST_CASE("flushing leaves what is in memory") {
  std::vector<int> data(1000, 5);
  flush_lines(data.data(), data.size() * sizeof(int));
  for (const int v : data) CHECK(v == 5);
}
