#include <tilewright/support/numbers/row_lengths.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace tilewright;

namespace {

support::row_lengths of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> offsets{0};
  for (const std::int64_t l : lengths)
    offsets.push_back(offsets.back() + static_cast<std::int32_t>(l));
  return support::row_lengths_of(offsets.data(), static_cast<std::int64_t>(lengths.size()),
                                 offsets.back());
}

/// Mean difference of two rows over twice the mean, pair by pair.
double gini_by_pairs(const std::vector<std::int64_t>& lengths) {
  double differences = 0, all = 0;
  for (const std::int64_t a : lengths) {
    all += static_cast<double>(a);
    for (const std::int64_t b : lengths) differences += std::abs(static_cast<double>(a - b));
  }
  return differences / (2 * static_cast<double>(lengths.size()) * all);
}

}  // namespace

TEST_CASE("rows of one length, and one row that has all elements") {
  const support::row_lengths even = of({3, 3, 3, 3});
  CHECK(even.mean == 3);
  CHECK(even.spread == 0);
  CHECK(even.longest == 1);
  CHECK(even.empty == 0);
  CHECK(even.gini == doctest::Approx(0));
  const support::row_lengths one = of({0, 0, 0, 8});
  CHECK(one.mean == 2);
  CHECK(one.spread == doctest::Approx(std::sqrt(3.0)));
  CHECK(one.longest == 4);
  CHECK(one.empty == 0.75);
  CHECK(one.gini == doctest::Approx(0.75));
}

TEST_CASE("the Gini coefficient is what pairs of rows say") {
  std::vector<std::int64_t> lengths;
  for (std::int64_t k = 0; k < 60; ++k) lengths.push_back(k * k * 37 % 101 / (1 + k % 7));
  CHECK(of(lengths).gini == doctest::Approx(gini_by_pairs(lengths)));
}

TEST_CASE("offsets that run backwards are no rows of any length") {
  const std::vector<std::int32_t> offsets{0, 5, 2, 9};
  const support::row_lengths out = support::row_lengths_of(offsets.data(), 3, 9);
  CHECK(out.gini >= 0);
  CHECK(out.gini <= 1);
}
