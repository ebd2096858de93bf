#include <tilewright/support/stable_sort.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright;

TEST_CASE("sorting keeps the order of equal elements") {
  using entry = std::pair<int, int>;
  std::mt19937 draw(7);
  for (int count = 0; count < 70; ++count) {
    std::vector<entry> list;
    for (int n = 0; n < count; ++n) list.emplace_back(static_cast<int>(draw() % 9), n);
    support::stable_sort(list, [](const entry& a, const entry& b) { return a.first < b.first; });
    REQUIRE(list.size() == static_cast<std::size_t>(count));
    CHECK(std::is_sorted(list.begin(), list.end()));  // the second members ascend among equals
  }
}

TEST_CASE("elements that cannot be copied are sorted") {
  std::vector<std::unique_ptr<int>> list;
  for (const int n : {3, 1, 2}) list.push_back(std::make_unique<int>(n));
  support::stable_sort(list, [](const auto& a, const auto& b) { return *a < *b; });
  CHECK(*list[0] == 1);
  CHECK(*list[1] == 2);
  CHECK(*list[2] == 3);
}
