#include <tilewright/search/strategies/annealing.hpp>

#include <doctest/doctest.h>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("chains climb what a model knows, in fewer trials than chance") {
  std::size_t climbed = 0, chance = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto s = annealing(std::make_shared<landscape::knowing_model>());
    const std::size_t n = landscape::trials_to_fastest(*s, seed, 400);
    CHECK(n < 200);
    climbed += n;
    const auto random = make_strategy("replay_traces", seed);
    chance += landscape::trials_to_fastest(*random, seed, 400);
  }
  CHECK(3 * climbed < chance);
}
