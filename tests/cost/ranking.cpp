#include <tilewright/cost/ranking.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tilewright::cost;

TEST_CASE("pairwise accuracy counts pairs in the right order") {
  const std::vector<double> truth{1, 2, 3, 3};
  CHECK(pairwise_accuracy(std::vector<double>{1, 2, 3, 4}, truth) == 1);
  CHECK(pairwise_accuracy(std::vector<double>{4, 3, 2, 1}, truth) == 0);
  CHECK(pairwise_accuracy(std::vector<double>{0, 0, 0, 0}, truth) == 0.5);
  CHECK(pairwise_accuracy(std::vector<double>{1, 2}, std::vector<double>{5, 5}) == 0.5);
  CHECK(pairwise_accuracy({}, {}) == 0.5);
}

TEST_CASE("pairs that measuring cannot tell apart do not count") {
  const std::vector<double> truth{1, 1.1, 2}, wrong_at_first{1.5, 1, 3};
  CHECK(pairwise_accuracy(wrong_at_first, truth) == doctest::Approx(2.0 / 3));
  // 1 and 1.1 differ by 0.1, which is less than twice sqrt(0.05^2 + 0.05^2)
  CHECK(pairwise_accuracy(wrong_at_first, truth, std::vector<double>(3, 0.05)) == 1);
  CHECK(pairwise_accuracy(wrong_at_first, truth, std::vector<double>(3, 0.01)) ==
        doctest::Approx(2.0 / 3));
  CHECK(pairwise_accuracy(wrong_at_first, truth, std::vector<double>(3, 9)) == 0.5);
}

TEST_CASE("the top score is relative to the best") {
  const std::vector<double> truth{1, 4, 2};
  CHECK(top_score(std::vector<double>{3, 1, 2}, truth, 1) == 0.25);
  CHECK(top_score(std::vector<double>{3, 1, 2}, truth, 2) == 0.5);
  CHECK(top_score(std::vector<double>{3, 1, 2}, truth, 9) == 1);
  CHECK(top_score({}, {}, 3) == 0);
}
