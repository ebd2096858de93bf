#include <tilewright/support/dynamic_library.hpp>

#include <cstdlib>
#include <utility>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using tilewright::support::dynamic_library;

TEST_CASE("the first name that opens is taken") {
  dynamic_library m({"the C library", "", {"libdoes-not-exist.so.9", "libc.so.6"}, "install libc"});
  CHECK(m.name() == "libc.so.6");
  CHECK(m.find("strlen") != nullptr);
  CHECK(m.find("no_such_function") == nullptr);
  CHECK_THROWS_WITH_AS(m.get("no_such_function"), doctest::Contains("no_such_function"),
                       build_error);
  dynamic_library moved = std::move(m);
  CHECK(moved.get("strlen") != nullptr);
  CHECK(m.find("strlen") == nullptr);  // NOLINT: a moved-from library is empty
}

TEST_CASE("failure names what was tried, why, and what to do") {
  const dynamic_library::spec s{
      "Frobnicator", "", {"libfrob.so.1", "libfrob.so.2"}, "install it with: apt-get install frob"};
  for (const char* part : {"Frobnicator", "libfrob.so.1", "libfrob.so.2", "apt-get install frob"})
    CHECK_THROWS_WITH_AS(dynamic_library{s}, doctest::Contains(part), build_error);
}

TEST_CASE("the environment replaces the names") {
  const dynamic_library::spec s{"the C library", "TILEWRIGHT_TEST_LIBRARY", {"libc.so.6"}, "none"};
  setenv("TILEWRIGHT_TEST_LIBRARY", "/nonexistent/lib.so", 1);
  CHECK_THROWS_WITH_AS(dynamic_library{s}, doctest::Contains("/nonexistent/lib.so"), build_error);
  setenv("TILEWRIGHT_TEST_LIBRARY", "", 1);
  CHECK(dynamic_library{s}.name() == "libc.so.6");
  unsetenv("TILEWRIGHT_TEST_LIBRARY");
}
