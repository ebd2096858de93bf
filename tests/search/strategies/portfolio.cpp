#include <tilewright/search/strategies/portfolio.hpp>

#include <tilewright/search/strategies/droplet.hpp>
#include <tilewright/search/strategies/given_traces.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

std::vector<std::unique_ptr<strategy>> chance_and_descent(std::uint64_t seed) {
  std::vector<std::unique_ptr<strategy>> out;
  out.push_back(make_strategy("replay_traces", seed));
  out.push_back(droplet());
  return out;
}

}  // namespace

TEST_CASE("the next stage takes over where the first one brings nothing more") {
  std::size_t both = 0, first = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto s = stages(chance_and_descent(seed), 24);
    both += landscape::trials_to_fastest(*s, seed, 500);
    const auto alone = make_strategy("replay_traces", seed);
    first += landscape::trials_to_fastest(*alone, seed, 500);
  }
  CHECK(2 * both < first);
}

TEST_CASE("a portfolio asks more often whom it owes more") {
  std::size_t both = 0, first = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto s = portfolio(chance_and_descent(seed));
    both += landscape::trials_to_fastest(*s, seed, 500);
    const auto alone = make_strategy("replay_traces", seed);
    first += landscape::trials_to_fastest(*alone, seed, 500);
  }
  CHECK(both < first);
}

TEST_CASE("a member without proposals is passed over") {
  for (const bool in_turn : {false, true}) {
    std::vector<std::unique_ptr<strategy>> members;
    members.push_back(given_traces({}));
    members.push_back(make_strategy("replay_traces", 1));
    const auto s = in_turn ? stages(std::move(members)) : portfolio(std::move(members));
    s->start(landscape::tiles(), 1);
    CHECK(landscape::curve(*s, 32).size() == 32);
  }
}

TEST_CASE("several strategies are at least one") {
  CHECK_THROWS_AS(stages({}), argument_error);
  CHECK_THROWS_AS(portfolio({}), argument_error);
  std::vector<std::unique_ptr<strategy>> members;
  members.push_back(nullptr);
  CHECK_THROWS_AS(portfolio(std::move(members)), argument_error);
}
