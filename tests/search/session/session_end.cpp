#include <tilewright/search/session_end.hpp>

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace tilewright::search;

TEST_CASE("nothing is known of a gain before the least trials") {
  CHECK(std::isinf(expected_gain({})));
  CHECK(std::isinf(expected_gain(std::vector<double>(trials_before_gain, 1.0))));
  CHECK(expected_gain(std::vector<double>(trials_before_gain + 1, 1.0)) == 0);
  CHECK(std::isinf(expected_gain(std::vector<double>(8, 1.0), 8)));
  CHECK(expected_gain(std::vector<double>(9, 1.0), 8) == 0);
}

TEST_CASE("the expected gain is what the last half of the trials brought, and the least at least") {
  std::vector<double> best(33, 1.0);
  best.back() = 0.9;
  CHECK(expected_gain(best, 32) == doctest::Approx(0.1));
  best.resize(64, 0.9);  // the fall is 31 trials ago
  CHECK(expected_gain(best, 32) == doctest::Approx(0.1));
  best.push_back(0.9);
  CHECK(expected_gain(best, 32) == 0);
  // a fall after 100 trials counts until 200
  std::vector<double> late(101, 1.0);
  late.resize(200, 0.5);
  CHECK(expected_gain(late) == doctest::Approx(0.5));
  late.resize(203, 0.5);
  CHECK(expected_gain(late) == 0);
}

TEST_CASE("each end has words of its own") {
  CHECK(end_text(session_end::none, 5).empty());
  CHECK(end_text(session_end::space, 5) == "the space is used up after 5 trials");
  CHECK(end_text(session_end::gain, 41) == "no gain is expected after 41 trials");
  CHECK(end_text(session_end::trials, 64) == "the budget of 64 trials is used");
}
