#include <tilewright/support/random.hpp>

#include <array>

#include <doctest/doctest.h>

using tilewright::support::random;

TEST_CASE("the stream is fixed: every machine draws the same") {
  random r(42);
  // SplitMix64 of seed 42, as its authors' reference program prints it
  CHECK(r.next() == 0xbdd732262feb6e95u);
  CHECK(r.next() == 0x28efe333b266f103u);
}

TEST_CASE("equal seeds give equal streams, copies go on independently") {
  random a(7), b(7);
  CHECK(a == b);
  a.next();
  CHECK_FALSE(a == b);
  random c = a;
  CHECK(a.next() == c.next());
}

TEST_CASE("below is uniform and within range") {
  random r(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[r.below(7)];
  for (const int n : counts) {
    CHECK(n > 9500);  // 5 standard deviations are 463
    CHECK(n < 10500);
  }
  CHECK(r.below(0) == 0);
  CHECK(r.below(1) == 0);
}

TEST_CASE("unit lies in [0, 1) with mean one half") {
  random r(3);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double u = r.unit();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
  }
  CHECK(sum == doctest::Approx(5000).epsilon(0.03));
}

TEST_CASE("split gives a stream of its own and advances the parent") {
  random a(5);
  const random before = a;
  random child = a.split();
  CHECK_FALSE(a == before);
  int same = 0;
  for (int i = 0; i < 100; ++i) same += a.next() == child.next();
  CHECK(same == 0);
  random again(5);
  CHECK(again.split() == random(before).split());
}
