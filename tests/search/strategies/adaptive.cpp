#include <tilewright/search/strategies/adaptive.hpp>

#include <tilewright/learning.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <set>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

/// Smallest distance between two programs of a batch.
double closest(const std::vector<candidate>& batch) {
  const search_task task = landscape::tiles();
  const trace_coordinates coordinates(task.sketches);
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < batch.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = coordinates.of(batch[i].scheduled.trace()).ordered,
                 b = coordinates.of(batch[j].scheduled.trace()).ordered;
      double square = 0;
      for (std::size_t k = 0; k < a.size(); ++k) square += (a[k] - b[k]) * (a[k] - b[k]);
      out = std::min(out, std::sqrt(square));
    }
  return out;
}

}  // namespace

TEST_CASE("what is proposed lies farther apart than what the other strategy gives") {
  double thinned = 0, plain = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    const auto s = adaptive(make_strategy("replay_traces", seed));
    const auto other = make_strategy("replay_traces", seed);
    s->start(landscape::tiles(), seed);
    other->start(landscape::tiles(), seed);
    const std::vector<candidate> few = s->propose(8, {});
    CHECK(few.size() >= 4);
    CHECK(few.size() <= 8);
    thinned += closest(few);
    plain += closest(other->propose(few.size(), {}));
  }
  CHECK(thinned > plain);
}

TEST_CASE("what waits is proposed later, once, and not where it was measured meanwhile") {
  const auto s = adaptive(make_strategy("replay_traces", 5));
  s->start(landscape::tiles(), 5);
  std::set<support::hash128> met;
  for (int round = 0; round < 6; ++round) {
    const std::vector<candidate> batch = s->propose(8, {});
    CHECK_FALSE(batch.empty());
    for (const candidate& c : batch) CHECK(met.insert(c.identity).second);
    s->learn(batch, std::vector<double>(batch.size(), 1.0));
  }
  CHECK_THROWS_AS(adaptive(nullptr), argument_error);
}
