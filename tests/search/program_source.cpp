#include <tilewright/impl/search/program_source.hpp>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/search/strategy.hpp>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("a task whose finisher is a source of programs has no others") {
  search_task task = landscape::tiles();
  std::vector<candidate> members;
  std::set<support::hash128> identities;
  for (std::uint64_t seed = 1; members.size() < 12 && seed < 200; ++seed)
    if (auto c = replay(task.sketches.front(), task.function, seed))
      if (identities.insert(c->identity).second) members.push_back(std::move(*c));
  REQUIRE(members.size() == 12);
  task.finish = search::detail::program_source(
      [&](const trace&, std::uint64_t seed) -> std::optional<candidate> {
        return members[seed % members.size()];
      });
  for (const std::string_view name : {"replay_traces", "evolutionary", "annealing", "droplet"}) {
    INFO(name);
    const auto s = make_strategy(name, 3);
    s->start(task, 3);
    std::set<support::hash128> proposed;
    for (int round = 0; round < 6; ++round) {
      const std::vector<candidate> batch = s->propose(3, [] { return false; });
      std::vector<double> seconds;
      for (const candidate& c : batch) {
        CHECK(identities.count(c.identity) == 1);
        CHECK(proposed.insert(c.identity).second);
        seconds.push_back(1e-3 * static_cast<double>(1 + proposed.size()));
      }
      s->learn(batch, seconds);
    }
    CHECK(proposed.size() >= 6);
  }
}

TEST_CASE("a source that has no program for a trace refuses it by name") {
  const search_task task = landscape::tiles();
  const finisher empty = search::detail::program_source(
      [](const trace&, std::uint64_t) -> std::optional<candidate> { return std::nullopt; });
  std::string why;
  CHECK_FALSE(replay(task.sketches.front(), task.function, 1, &why, empty));
  CHECK(why == "there is no such program");
}
