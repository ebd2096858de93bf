#include <tilewright/expr/formats/bsr_matrix.hpp>
#include <tilewright/expr/formats/parted_matrix.hpp>
#include <tilewright/expr/formats/values_like.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "refusal.hpp"

using namespace tilewright;
using test_kernels::refusal;

namespace {

// rows of blocks of 2: a full block beside single elements
const std::vector<std::int32_t> offsets{0, 3, 5, 6, 6}, indices{0, 1, 3, 0, 1, 2};
const std::vector<float> values{1, 2, 3, 4, 5, 6};
auto rows() { return csr(offsets, indices, values, 4); }

}  // namespace

TEST_CASE("values of elements go to the places of a format and back") {
  const bsr_matrix<float, 2> blocks(rows());
  values_like<float, bsr<"N", 2>> s(blocks);
  CHECK(s.elements() == 6);
  const std::vector<float> given{10, 20, 30, 40, 50, 60};
  s.load(given);
  const auto arrays = s.arguments();
  REQUIRE(arrays.size() == 1);
  CHECK_FALSE(arrays[0].is_const);
  REQUIRE(arrays[0].extents[0] == static_cast<std::int64_t>(blocks.values().size()));
  const auto* at = static_cast<const float*>(arrays[0].data);
  for (std::size_t p = 0; p < blocks.values().size(); ++p)
    CHECK(at[p] == 10 * blocks.values()[p]);  // padding is zero in both
  std::vector<float> back(6, 0);
  s.store(back);
  CHECK(back == given);
  const auto& fixed = s;
  CHECK(fixed.arguments()[0].is_const);
}

TEST_CASE("a matrix in parts has an array for each") {
  constexpr dim stored = parts<bsr<"N", 2>, dcsr<"N">>;
  const parted_matrix<float, stored> m(rows(), {.least_fill = 1});
  values_like<std::int32_t, stored> kinds(m);
  const std::vector<std::int32_t> given{1, 2, 3, 4, 5, 6};
  kinds.load(given);
  const auto arrays = kinds.arguments();
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].extents[0] == 4);  // the full block
  CHECK(arrays[1].extents[0] == 2);
  CHECK(arrays[1].type == dtype::i32);
  CHECK(static_cast<const std::int32_t*>(arrays[1].data)[0] == 3);
  std::vector<std::int32_t> back(6, 0);
  kinds.store(back);
  CHECK(back == given);
}

TEST_CASE("another number of values is refused, and nothing is taken") {
  const bsr_matrix<float, 2> blocks(rows());
  values_like<float, bsr<"N", 2>> s(blocks);
  std::vector<float> few(5, 7), all(6, 1);
  const std::string wrong = "values_like: there are 5 values for 6 elements; each has one";
  CHECK(refusal([&] { s.load(few); }) == wrong);
  CHECK(refusal([&] { s.store(few); }) == wrong);
  s.store(all);
  CHECK(all == std::vector<float>(6, 0));
}
