#include <tilewright/support/find.hpp>

#include <array>
#include <list>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("find ends at the first element that holds, or at the end") {
  const auto even = [](int n) { return n % 2 == 0; };
  const std::vector<int> some{1, 3, 4, 5, 6}, odd{1, 3}, nothing;
  CHECK(support::find(some, even) == some.begin() + 2);
  CHECK(support::find(odd, even) == odd.end());
  CHECK(support::find(nothing, even) == nothing.end());
  int asked = 0;
  support::find(std::array{1, 2, 3}, [&](int n) { return ++asked, n == 2; });
  CHECK(asked == 2);
}

TEST_CASE("find gives what may be changed, of arrays and lists too") {
  std::list<int> list{1, 2, 3};
  *support::find(list, [](int n) { return n == 2; }) = 7;
  CHECK(list == std::list<int>{1, 7, 3});
  int plain[] = {4, 5};
  CHECK(support::find(plain, [](int n) { return n == 5; }) == plain + 1);
}
