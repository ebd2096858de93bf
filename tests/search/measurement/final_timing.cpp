#include <tilewright/impl/search/measurement/final_timing.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tilewright::search;
using namespace tilewright::search::detail;

namespace {

measurement timed(std::vector<double> seconds) {
  measurement m;
  m.seconds = std::move(seconds);
  return m;
}

const std::vector<contestant> all{
    {nullptr, 1.0, "default"}, {nullptr, 0.5, "a"}, {nullptr, 0.6, "b"}};

}  // namespace

TEST_CASE("the last round decides, and not what was measured before it") {
  const auto won =
      winner_of(all, {timed({1, 1, 1}), timed({0.9, 0.9, 0.9}), timed({0.7, 0.7, 0.7})});
  CHECK(won.winner == 2);
  CHECK(won.improved);
  CHECK(won.noise == 0.02);
  CHECK_FALSE(winner_of(all, {timed({1, 1, 1}), timed({0.99, 0.99, 0.99}), timed({2})}).improved);
}

TEST_CASE("without a round, the times that candidates came with count") {
  const auto won = winner_of(all, {timed({}), timed({}), timed({})});
  CHECK(won.winner == 1);
  CHECK(won.improved);
  CHECK(won.noise == 0.1);
}

TEST_CASE("a round that was cut off after the default is none") {
  const auto won = winner_of(all, {timed({1.1}), timed({}), timed({})});
  CHECK(won.winner == 1);
  CHECK(won.improved);
  const auto without = winner_of(all, {timed({}), timed({}), timed({0.55})});
  CHECK(without.winner == 1);
  CHECK(without.improved);
}

TEST_CASE("who was not timed in a round that others had does not win it") {
  const auto won = winner_of(all, {timed({1}), timed({}), timed({0.9})});
  CHECK(won.winner == 2);
  CHECK(won.improved == (0.9 * (1 + won.noise) < 1));
}
