#include <cstdint>

#include <doctest/doctest.h>
#include <tilewright/support/numbers/divisor.hpp>

using tilewright::support::largest_divisor;

TEST_CASE("the largest divisor is at most the limit, divides, and none between does") {
  for (std::int64_t n = 1; n <= 200; ++n)
    for (std::int64_t most = 1; most <= n + 3; ++most) {
      CAPTURE(n);
      CAPTURE(most);
      const std::int64_t found = largest_divisor(n, most);
      REQUIRE(found >= 1);
      CHECK(found <= most);
      CHECK(n % found == 0);
      for (std::int64_t d = found + 1; d <= most && d <= n; ++d) CHECK(n % d != 0);
    }
}

TEST_CASE("what is no extent counts as one") {
  CHECK(largest_divisor(0, 4) == 1);
  CHECK(largest_divisor(12, 0) == 1);
  CHECK(largest_divisor(-3, -3) == 1);
}

TEST_CASE("large extents take about the root of their steps") {
  constexpr std::int64_t prime = 1'000'000'007;
  CHECK(largest_divisor(prime, prime) == prime);
  CHECK(largest_divisor(prime, prime - 1) == 1);
  CHECK(largest_divisor(prime, 64) == 1);
  CHECK(largest_divisor(prime * 6, prime * 2 + 1) == prime * 2);
  CHECK(largest_divisor(std::int64_t{1} << 40, (std::int64_t{1} << 31) - 1) == std::int64_t{1}
                                                                                   << 30);
  static_assert(largest_divisor(112, 8) == 8 && largest_divisor(113, 8) == 1);
}
