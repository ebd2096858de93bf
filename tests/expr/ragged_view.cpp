#include <tilewright/expr/formats/ragged_view.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace tilewright;

TEST_CASE("rows of different length are as long as their offsets say") {
  const std::vector<std::int32_t> offsets{0, 2, 2, 5};
  const std::vector<float> values(5);
  const auto view = ragged_of(offsets, values);
  CHECK(view.rows == 3);
  CHECK(view.longest == 3);
  CHECK(decltype(view)::rank == 2);
  std::vector<float> places(5 * 7);
  const auto matrices = ragged_of(offsets, tilewright::view(places.data(), {5, 7}));
  CHECK(decltype(matrices)::rank == 3);
  CHECK(matrices.arguments()[1].extents[1] == 7);
}

TEST_CASE("offsets that are wrong are named with position and value") {
  const std::vector<float> values(5);
  const auto given = [&](const std::vector<std::int64_t>& offsets) {
    return ragged_of(offsets, values);
  };
  CHECK_THROWS_WITH_AS(given({}), "ragged_of: there are no offsets; n rows have n + 1 of them",
                       argument_error);
  CHECK_THROWS_WITH_AS(given({1, 5}), "ragged_of: offset 0 is 1; offsets begin with 0",
                       argument_error);
  CHECK_THROWS_WITH_AS(given({0, 3, 2, 5}),
                       "ragged_of: offset 2 is 2 after 3; offsets never decrease", argument_error);
  CHECK_THROWS_WITH_AS(
      given({0, 3, 6}),
      "ragged_of: offset 2 is 6, and there are 5 values; the last offset is their number",
      argument_error);
}
