#include <tilewright/search/strategy.hpp>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/learning.hpp>
#include <tilewright/search/strategies/evolutionary.hpp>
#include <tilewright/search/strategies/given_traces.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "search/kernels.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

search_task product() {
  search_task out;
  out.function = reify(kernels::matmul_relu, {{"M", 96}, {"N", 128}, {"K", 192}});
  static const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  out.generate = [f = out.function, where](std::uint64_t seed) {
    return space::default_cpu().member(f, where, seed);
  };
  for (const schedule& s : space::default_cpu().sketches(out.function, where, 1))
    out.sketches.push_back(s.trace().without_decisions());
  return out;
}

/// A time that depends on the decisions alone: small middle tiles are fast.
double pretended_time(const candidate& c) {
  double out = 1;
  const trace& t = c.scheduled.trace();
  for (std::size_t i = 0; i < t.size(); ++i)
    for (const std::int64_t d : t[i].choice)
      out += static_cast<double>((d * 7 + static_cast<std::int64_t>(i)) % 13);
  return out;
}

std::vector<double> search_with(strategy& s, int rounds,
                                std::vector<support::hash128>* order = nullptr) {
  std::vector<double> out;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<candidate> batch = s.propose(8, {});
    std::vector<double> seconds;
    for (const candidate& c : batch) {
      seconds.push_back(pretended_time(c));
      if (order) order->push_back(c.identity);
    }
    s.learn(batch, seconds);
    out.insert(out.end(), seconds.begin(), seconds.end());
  }
  return out;
}

/// Scores that depend on the program alone, and a note of them; the first programs asked for are the
/// population.
struct noting_model final : cost::model {
  std::map<support::hash128, double> scores;
  std::set<support::hash128> population;

  void update(std::span<const cost::sample>) override {}
  std::string save() const override { return {}; }
  void load(std::string_view) override {}
  std::vector<double> predict(std::span<const cost::sample> programs) override {
    const bool first = scores.empty();
    std::vector<double> out;
    for (const cost::sample& s : programs) {
      out.push_back(static_cast<double>(s.key.lo >> 40));
      scores[s.key] = out.back();
      if (first) population.insert(s.key);
    }
    return out;
  }
};

const char* names[] = {"replay_functions", "replay_traces", "local",   "evolutionary_random",
                       "evolutionary",     "annealing",     "droplet", "stages",
                       "portfolio",        "bayesian",      "ppo",     "adaptive"};

}  // namespace

TEST_CASE("every strategy proposes programs once, and the same ones for the same seed") {
  const search_task task = product();
  for (const char* name : names) {
    INFO(name);
    std::vector<support::hash128> first, second, other;
    for (auto* order : {&first, &second, &other}) {
      auto s = make_strategy(name, 5);
      s->start(task, order == &other ? 6 : 5);
      search_with(*s, 3, order);
    }
    CHECK(first.size() >= 12);
    CHECK(first == second);
    CHECK(first != other);
    CHECK(std::set<support::hash128>(first.begin(), first.end()).size() == first.size());
  }
  CHECK_THROWS_AS(make_strategy("gradient"), argument_error);
}

TEST_CASE("every strategy takes every model") {
  search_task task = product();
  task.sketches.resize(1);
  for (const strategy_kind& kind : strategy_kinds())
    for (const cost::model_kind& model : cost::model_kinds()) {
      if (kind.model.empty() && model.name != "random") continue;  // it takes none
      INFO(kind.name, " with ", model.name);
      auto s = make_strategy(kind.name, 5, model.name);
      s->start(task, 5);
      // one that thins out by clusters may give fewer than it was asked for
      const std::size_t met = search_with(*s, 2).size();
      CHECK(met <= 16);
      CHECK(met >= 8);
    }
}

TEST_CASE("the threads of a strategy do not show in what it proposes") {
  const search_task task = product();
  std::vector<support::hash128> one, four;
  for (const int threads : {1, 4}) {
    evolution_options o;
    o.threads = threads;
    o.population = 40;
    auto s = evolutionary(std::make_shared<cost::tree_model>(), o);
    s->start(task, 11);
    search_with(*s, 4, threads == 1 ? &one : &four);
  }
  CHECK(one == four);
}

TEST_CASE("a learned model finds better programs than chance") {
  const search_task task = product();
  double random_best = 0, learned_best = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    auto chance = make_strategy("replay_traces", seed),
         learned = make_strategy("evolutionary", seed);
    chance->start(task, seed);
    learned->start(task, seed);
    const std::vector<double> a = search_with(*chance, 12), b = search_with(*learned, 12);
    random_best += *std::min_element(a.begin(), a.end());
    learned_best += *std::min_element(b.begin(), b.end());
  }
  CHECK(learned_best < random_best);
}

TEST_CASE("what was measured before is not proposed, and failures are no parents") {
  const search_task task = product();
  for (const char* name : names) {
    INFO(name);
    auto a = make_strategy(name, 5), b = make_strategy(name, 5);
    a->start(task, 5);
    b->start(task, 5);
    const std::vector<candidate> known = a->propose(8, {});
    const std::vector<double> failed(known.size(), std::numeric_limits<double>::infinity());
    b->learn(known, failed);
    std::set<support::hash128> before;
    for (const candidate& c : known) before.insert(c.identity);
    for (int round = 0; round < 3; ++round)
      for (const candidate& c : b->propose(8, {})) CHECK(before.count(c.identity) == 0);
  }
}

TEST_CASE("a search that is over returns at once") {
  for (const char* name : names) {
    auto s = make_strategy(name);
    s->start(product(), 1);
    CHECK(s->propose(8, [] { return true; }).size() <= 8);
  }
}

TEST_CASE("given traces are proposed once, in order; what does not replay is counted") {
  const search_task task = product();
  auto draws = make_strategy("replay_traces", 3);
  draws->start(task, 3);
  const std::vector<candidate> some = draws->propose(5, {});
  REQUIRE(some.size() == 5);
  std::vector<trace> traces{trace::parse("b0 = sch.get_block(name=\"nowhere\")\n")};
  for (const candidate& c : some) traces.push_back(c.scheduled.trace());
  traces.push_back(traces[1]);
  auto s = given_traces(traces);
  s->start(task, 1);
  const double known = 1;
  s->learn(std::span(&some[4], 1), std::span(&known, 1));
  std::vector<candidate> got = s->propose(3, {});
  for (candidate& c : s->propose(10, {})) got.push_back(std::move(c));
  REQUIRE(got.size() == 4);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i].identity == some[i].identity);
  CHECK(s->refused() == 1);
  CHECK(s->propose(3, {}).empty());
}

TEST_CASE("evolution takes the best by score, and a share of programs drawn at random") {
  const search_task task = product();
  auto model = std::make_shared<noting_model>();
  evolution_options o;
  o.population = 40;
  o.greedy = 0.75;
  o.near = 0;
  auto s = evolutionary(model, o);
  s->start(task, 3);
  std::set<support::hash128> proposed;
  for (const std::size_t best : {4u, 6u}) {  // until something ran, half of a batch is drawn
    model->scores.clear();
    const std::vector<candidate> batch = s->propose(8, {});
    REQUIRE(batch.size() == 8);
    std::vector<std::pair<double, support::hash128>> ranked;
    for (const auto& [identity, score] : model->scores)
      if (proposed.count(identity) == 0) ranked.push_back({score, identity});
    std::sort(ranked.rbegin(), ranked.rend());
    for (std::size_t i = 0; i < best; ++i) CHECK(batch[i].identity == ranked[i].second);
    if (proposed.empty())
      for (std::size_t i = best; i < 8; ++i) CHECK(model->population.count(batch[i].identity) == 1);
    for (const candidate& c : batch) proposed.insert(c.identity);
    s->learn(batch, std::vector<double>(8, 1));
  }
}

TEST_CASE("a share of a batch lies one change beside the fastest measured programs") {
  const search_task task = product();
  const auto fast = replay(task.sketches[0], task.function, 1),
             slow = replay(task.sketches[1], task.function, 3);
  REQUIRE(fast);
  REQUIRE(slow);
  evolution_options o;
  o.population = 24;
  o.near = 0.5;
  o.nearest = 1;
  auto s = evolutionary(std::make_shared<noting_model>(), o);
  s->start(task, 4);
  const std::vector<candidate> known{*slow, *fast};
  s->learn(known, std::vector<double>{2, 1});
  const std::vector<candidate> batch = s->propose(8, {});
  REQUIRE(batch.size() == 8);
  const trace& from = fast->scheduled.trace();
  for (std::size_t i = 0; i < 4; ++i) {
    const trace& t = batch[i].scheduled.trace();
    REQUIRE(t.size() == from.size());
    int changed = 0;
    for (std::size_t k = 0; k < t.size(); ++k) changed += t[k].choice == from[k].choice ? 0 : 1;
    CHECK(changed == 1);
  }
}

TEST_CASE("of a population what the model ranks best is changed, and no more") {
  const search_task task = product();
  evolution_options o;
  o.population = 40;
  o.changed = 0.25;
  o.generations = 1;
  o.crossover = 0;
  o.near = 0;
  const auto model = std::make_shared<noting_model>();
  auto s = evolutionary(model, o);
  s->start(task, 5);
  s->propose(8, {});
  const std::size_t drawn = model->population.size();
  REQUIRE(drawn > 30);
  CHECK(model->scores.size() > drawn);
  CHECK(model->scores.size() <= drawn + 10);
  // all programs again, where all of them are changed
  o.changed = 1;
  const auto whole = std::make_shared<noting_model>();
  auto all = evolutionary(whole, o);
  all->start(task, 5);
  all->propose(8, {});
  CHECK(whole->population == model->population);
  CHECK(whole->scores.size() > model->scores.size());
}

TEST_CASE("crossover takes each decision from one of two traces of one sketch") {
  const search_task task = product();
  const auto a = replay(task.sketches[0], task.function, 1),
             b = replay(task.sketches[0], task.function, 2),
             other = replay(task.sketches[1], task.function, 3);
  REQUIRE(a);
  REQUIRE(b);
  REQUIRE(other);
  evolution_options o;
  o.population = 3;
  o.measured_share = 1;
  o.changed = 1;
  o.near = 0;
  o.crossover = 1;
  o.generations = 20;
  o.changes = {};
  auto s = evolutionary(std::make_shared<noting_model>(), o);
  s->start(task, 4);
  const std::vector<candidate> known{*a, *b, *other};
  s->learn(known, std::vector<double>{1, 2, 3});
  const trace &first = a->scheduled.trace(), &second = b->scheduled.trace();
  const std::vector<candidate> children = s->propose(8, {});
  CHECK_FALSE(children.empty());
  for (const candidate& c : children) {
    const trace& t = c.scheduled.trace();
    REQUIRE(t.size() == first.size());
    for (std::size_t i = 0; i < t.size(); ++i)
      CHECK((t[i].choice == first[i].choice || t[i].choice == second[i].choice));
  }
}
