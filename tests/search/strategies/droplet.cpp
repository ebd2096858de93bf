#include <tilewright/search/strategies/droplet.hpp>

#include <doctest/doctest.h>

#include <set>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("descent finds the fastest program of a landscape without other valleys") {
  std::size_t descent = 0, chance = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const auto s = droplet();
    const std::size_t n = landscape::trials_to_fastest(*s, seed, 600);
    CHECK(n < 600);
    descent += n;
    const auto random = make_strategy("replay_traces", seed);
    chance += landscape::trials_to_fastest(*random, seed, 600);
  }
  CHECK(3 * descent < chance);
}

TEST_CASE("what is faster by less than the noise is no new centre") {
  droplet_options o;
  o.noise = 0.9;  // nothing is ever believed: all around the first centre is measured in one go
  const auto s = droplet(o);
  s->start(landscape::tiles(), 3);
  std::vector<double> times = landscape::curve(*s, 40);
  CHECK(times.size() == 40);
}

TEST_CASE(
    "a descent goes on from another point where all around its centre was measured, and ends "
    "with the space") {
  const auto s = droplet();
  s->start(landscape::tiles(), 1);
  std::set<support::hash128> met;
  std::size_t trials = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<candidate> batch = s->propose(16, {});
    if (batch.empty()) break;
    std::vector<double> times;
    for (const candidate& c : batch) {
      CHECK(met.insert(c.identity).second);
      times.push_back(landscape::seconds(c));
    }
    trials += batch.size();
    s->learn(batch, times);
  }
  CHECK(trials == landscape::knowing_model().known.size());
}

TEST_CASE("failed programs are no centres") {
  const auto s = droplet();
  s->start(landscape::tiles(), 2);
  for (int round = 0; round < 4; ++round) {
    const std::vector<candidate> batch = s->propose(8, {});
    CHECK(batch.size() == 8);
    s->learn(batch, std::vector<double>(batch.size(), std::numeric_limits<double>::infinity()));
  }
}
