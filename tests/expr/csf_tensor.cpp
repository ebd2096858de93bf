#include <tilewright/expr/formats/csf_tensor.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

using namespace tilewright;

namespace {

using coordinates = std::array<std::vector<int>, 3>;
// (2, 1, 4), (0, 3, 0), (0, 0, 1), (0, 3, 2)
const coordinates at{std::vector<int>{2, 0, 0, 0}, std::vector<int>{1, 3, 0, 3},
                     std::vector<int>{4, 0, 1, 2}};
const std::vector<float> values{1, 2, 3, 4};

}  // namespace

TEST_CASE("what elements have in common of their coordinates is stored once") {
  csf_tensor<float, 3> a({4, 4, 5}, at, values);
  CHECK(a.offsets(1) == std::vector<std::int32_t>{0, 2, 2, 3, 3});
  CHECK(a.indices(1) == std::vector<std::int32_t>{0, 3, 1});
  CHECK(a.offsets(2) == std::vector<std::int32_t>{0, 1, 3, 4});
  CHECK(a.indices(2) == std::vector<std::int32_t>{1, 0, 2, 4});
  CHECK(a.values() == std::vector<float>{3, 2, 4, 1});
  a.refresh(std::vector<float>{10, 20, 30, 40});
  CHECK(a.values() == std::vector<float>{30, 20, 40, 10});
  CHECK_THROWS_AS(a.refresh(std::vector<float>{1}), argument_error);
}

TEST_CASE("a tensor without elements has empty rows") {
  const csf_tensor<float, 3> a({2, 3, 4}, coordinates{}, std::vector<float>{});
  CHECK(a.offsets(1) == std::vector<std::int32_t>{0, 0, 0});
  CHECK(a.offsets(2) == std::vector<std::int32_t>{0});
  CHECK(a.nonzeros() == 0);
}

TEST_CASE("elements that stand twice are refused or added up") {
  const coordinates twice{std::vector<int>{1, 1}, std::vector<int>{2, 2}, std::vector<int>{3, 3}};
  const std::vector<float> two{5, 6};
  CHECK_THROWS_WITH_AS(
      (csf_tensor<float, 3>({4, 4, 5}, twice, two)),
      "csf_tensor: elements 0 and 1 have the same coordinates; add them up, or ask "
      "for duplicates::summed",
      argument_error);
  const csf_tensor<float, 3> a({4, 4, 5}, twice, two, duplicates::summed);
  CHECK(a.values() == std::vector<float>{11});
}

TEST_CASE("coordinates outside, and too few of them, are named") {
  CHECK_THROWS_WITH_AS(
      (csf_tensor<float, 3>({4, 4, 4}, at, values)),
      "csf_tensor: the coordinate of element 0 along dimension 2 is 4; it has to be "
      "0 to 3",
      argument_error);
  CHECK_THROWS_WITH_AS(
      (csf_tensor<float, 3>({4, 4, 5}, at, std::vector<float>{1})),
      "csf_tensor: there are 4 coordinates along dimension 0 and 1 values; each element has one of "
      "each",
      argument_error);
}
