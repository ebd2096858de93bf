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

TEST_CASE("what slows both contestants of a turn down is no noise between them") {
  const std::vector<double> base{1, 1.5, 1.1, 1.6, 1.2, 1.4}, faster = [&] {
    std::vector<double> out;
    for (const double s : base) out.push_back(0.94 * s);
    return out;
  }();
  const auto won = winner_of(all, {timed(base), timed(faster), timed({3, 3, 3, 3, 3, 3})});
  CHECK(won.winner == 1);
  CHECK(won.noise == 0.02);
  CHECK(won.improved);
  // the same times in other turns do not say which is faster
  const auto drawn =
      winner_of(all, {timed(base), timed({1.5, 0.94, 1.3, 1.0, 1.41, 1.13}), timed({3})});
  CHECK(drawn.noise > 0.02);
  CHECK_FALSE(drawn.improved);
}

TEST_CASE("arguments in another form win only where they are faster by more than the noise") {
  const argument_form form;
  const std::vector<contestant> forms{
      {nullptr, 1.0, "default"}, {nullptr, 0.5, "own"}, {nullptr, 0.5, "formed", &form}};
  const auto near =
      winner_of(forms, {timed({1, 1, 1}), timed({0.5, 0.5, 0.5}), timed({0.495, 0.495, 0.495})});
  CHECK(near.winner == 1);
  CHECK(near.improved);
  const auto clear =
      winner_of(forms, {timed({1, 1, 1}), timed({0.5, 0.5, 0.5}), timed({0.45, 0.45, 0.45})});
  CHECK(clear.winner == 2);
  CHECK(clear.improved);
  CHECK(winner_of(forms,
                  {timed({0.5, 0.5, 0.5}), timed({0.6, 0.6, 0.6}), timed({0.495, 0.495, 0.495})})
            .winner == 0);
}

TEST_CASE("contestants are visited in turns, those that are far behind once") {
  argument_form form;
  form.charge = 0.25;
  form.least_gain = 0.5;
  const std::vector<contestant> some{{nullptr, 1.0, "default"},
                                     {nullptr, 0.75, "near", &form},
                                     {nullptr, 9.0, "far"},
                                     {nullptr, 0.5, "fails"}};
  const time_budget enough(1e6);
  std::vector<std::size_t> visited;
  const auto visit = [&](std::size_t i) {
    visited.push_back(i);
    if (i == 3) return measurement{{}, failure::fault, "it ended with a signal"};
    return timed({i == 1 ? 0.25 : some[i].seconds});
  };
  const auto never = [] { return false; };
  const std::vector<measurement> times = visited_in_turn(some, 3, enough, visit, never);
  CHECK(visited == std::vector<std::size_t>{0, 1, 2, 3, 0, 1, 3, 0, 1, 3});
  CHECK(times[0].seconds == std::vector<double>{1, 1, 1});
  CHECK(times[1].seconds == std::vector<double>{0.75, 0.75, 0.75});  // with what its form costs
  CHECK(times[2].seconds == std::vector<double>{9});
  CHECK(times[3].seconds.empty());

  visited.clear();
  const auto after_four = [&] { return visited.size() >= 4; };
  (void)visited_in_turn(some, 3, enough, visit, after_four);
  CHECK(visited.size() == 4);
  visited.clear();
  (void)visited_in_turn(some, 3, time_budget(0), visit, never);  // no time for the first two
  CHECK(visited.empty());
}
