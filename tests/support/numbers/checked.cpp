#include <tilewright/support/numbers/checked.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tilewright::support;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("checked arithmetic gives nothing where 64 bits hold nothing") {
  CHECK(checked_product(6, 7) == 42);
  CHECK(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31) == std::int64_t{1} << 62);
  CHECK_FALSE(checked_product(std::int64_t{1} << 32, std::int64_t{1} << 31));
  CHECK_FALSE(checked_product(least, -1));
  CHECK(checked_sum(most, least) == -1);
  CHECK_FALSE(checked_sum(most, 1));
  CHECK_FALSE(checked_sum(least, -1));
}

TEST_CASE("saturated arithmetic ends at the end it passes") {
  CHECK(saturated_product(most, 2) == most);
  CHECK(saturated_product(least, -2) == most);
  CHECK(saturated_product(most, -2) == least);
  CHECK(saturated_product(-6, 7) == -42);
  CHECK(saturated_sum(most, 5) == most);
  CHECK(saturated_sum(least, -5) == least);
  CHECK(saturated_sum(most, least) == -1);
}

TEST_CASE("a volume with a zero is zero") {
  CHECK(checked_volume(std::vector<std::int64_t>{2, 3, 4}) == 24);
  CHECK(checked_volume(std::vector<std::int64_t>{}) == 1);
  CHECK(checked_volume(std::vector<std::int64_t>{most, most, 0}) == 0);
  CHECK_FALSE(checked_volume(std::vector<std::int64_t>{most, 2}));
}
