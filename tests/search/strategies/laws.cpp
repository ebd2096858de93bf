// What holds of every strategy, whatever it proposes.
#include <tilewright/search/strategy.hpp>

#include <tilewright/learning.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <vector>

#include "search/kernels.hpp"
#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

template <class F>
void for_strategies(F f) {
  for (const strategy_kind& kind : strategy_kinds()) {
    INFO(kind.name);
    f(kind);
  }
}

/// Programs that a strategy proposes until it has no more, three times in a row.
std::vector<support::hash128> exhausted(strategy& s, std::size_t most) {
  std::vector<support::hash128> out;
  for (int empty = 0; empty < 3 && out.size() < most;) {
    const std::vector<candidate> batch = s.propose(3, {});
    empty = batch.empty() ? empty + 1 : 0;
    CHECK(batch.size() <= 3);
    for (const candidate& c : batch) out.push_back(c.identity);
    s.learn(batch, std::vector<double>(batch.size(), 1e-3));
  }
  return out;
}

}  // namespace

TEST_CASE("laws of strategies: tiny spaces end, and no program of them is proposed twice") {
  for (const int extent : {1, 2, 5}) {
    search_task task;
    task.function = reify(kernels::square_root, {{"N", extent}});
    static const target::cpu cpu = target::named("haswell");
    const space::context where{&cpu, 1};
    for (const schedule& s : space::default_cpu().sketches(task.function, where, 1))
      task.sketches.push_back(s.trace().without_decisions());
    task.generate = [f = task.function, where](std::uint64_t seed) {
      return space::default_cpu().member(f, where, seed);
    };
    for_strategies([&](const strategy_kind& kind) {
      INFO("extent ", extent);
      const auto s = make_strategy(kind.name, 3);
      s->start(task, 3);
      const std::vector<support::hash128> met = exhausted(*s, 400);
      CHECK(met.size() < 400);
      CHECK(std::set<support::hash128>(met.begin(), met.end()).size() == met.size());
    });
  }
}

TEST_CASE("laws of strategies: what an earlier session measured is not proposed again") {
  const search_task task = landscape::tiles();
  std::vector<candidate> known;
  std::vector<double> seconds;
  const auto earlier = make_strategy("replay_traces", 8);
  earlier->start(task, 8);
  known = earlier->propose(24, {});
  for (const candidate& c : known) seconds.push_back(landscape::seconds(c));
  for_strategies([&](const strategy_kind& kind) {
    if (kind.name == "replay_functions") return;  // this space has no function to run again
    const auto s = make_strategy(kind.name, 3);
    s->start(task, 3);
    s->learn(known, seconds);
    std::set<support::hash128> met;
    for (const candidate& c : known) met.insert(c.identity);
    for (int round = 0; round < 3; ++round) {
      const std::vector<candidate> batch = s->propose(8, {});
      std::vector<double> times;
      for (const candidate& c : batch) {
        CHECK(met.insert(c.identity).second);
        times.push_back(landscape::seconds(c));
      }
      s->learn(batch, times);
    }
  });
}

TEST_CASE("laws of strategies: a search in which everything fails goes on, and ends when asked") {
  const search_task task = landscape::tiles();
  for_strategies([&](const strategy_kind& kind) {
    if (kind.name == "replay_functions") return;
    const auto s = make_strategy(kind.name, 3);
    s->start(task, 3);
    for (int round = 0; round < 4; ++round) {
      const std::vector<candidate> batch = s->propose(8, {});
      CHECK(batch.size() <= 8);
      s->learn(batch, std::vector<double>(batch.size(), std::numeric_limits<double>::infinity()));
    }
    CHECK(s->propose(8, [] { return true; }).size() <= 8);
  });
}
