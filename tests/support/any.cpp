#include <tilewright/support/any.hpp>

#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("any, all and none agree, of no element too") {
  const auto even = [](int n) { return n % 2 == 0; };
  const std::vector<int> nothing, some{1, 2}, every{2, 4};
  CHECK_FALSE(support::any(nothing, even));
  CHECK(support::all(nothing, even));
  CHECK(support::none(nothing, even));
  CHECK(support::any(some, even));
  CHECK_FALSE(support::all(some, even));
  CHECK_FALSE(support::none(some, even));
  CHECK(support::all(every, even));
}

TEST_CASE("any ends at the first element that holds") {
  int asked = 0;
  CHECK(support::any(std::array{1, 2, 3}, [&](int n) { return ++asked, n == 2; }));
  CHECK(asked == 2);
  CHECK_FALSE(support::all(std::array{1, 2, 3}, [&](int n) { return ++asked, n == 0; }));
  CHECK(asked == 3);
}

TEST_CASE("contains compares with ==") {
  CHECK(support::contains(std::vector<std::string>{"a", "b"}, "b"));
  CHECK_FALSE(support::contains(std::vector<std::string>{"a", "b"}, "c"));
  static_assert(support::contains(std::array{1, 2}, 2));
}
