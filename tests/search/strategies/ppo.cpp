#include <tilewright/search/strategies/ppo.hpp>

#include <tilewright/impl/search/strategies/coordinate.hpp>
#include <tilewright/impl/search/strategies/policy_network.hpp>
#include <tilewright/learning.hpp>

#include <doctest/doctest.h>

#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;
using search::detail::policy_network;
using search::detail::walked_step;

namespace {

std::vector<walked_step> some_steps(const policy_network& policy) {
  support::random r(3);
  std::vector<walked_step> out;
  for (int n = 0; n < 12; ++n) {
    walked_step s;
    for (int i = 0; i < 5; ++i) s.state.push_back(r.unit());
    s.action = policy.act(s.state, r, s.log_probability);
    s.log_probability += 0.1 * (r.unit() - 0.5);  // as of an older policy
    s.base = r.unit();
    s.gain = 2 * r.unit() - 1;
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace

TEST_CASE("the slope of a policy's loss is that of finite differences") {
  policy_network policy(5, 4, 0.3, 1e-3, 7);
  support::random r(5);
  for (Eigen::Index i = 0; i < policy.weights().size(); ++i)
    policy.weights()[i] += 0.2 * (r.unit() - 0.5);
  const std::vector<walked_step> walked = some_steps(policy);
  const search::detail::policy_loss_options o{0.2, 0.05};
  cost::detail::layer_vector slope;
  policy.loss(walked, o, &slope);
  int checked = 0;
  for (int n = 0; n < 300; ++n) {
    const auto i =
        static_cast<Eigen::Index>(r.below(static_cast<std::size_t>(policy.weights().size())));
    if (std::abs(slope[i]) < 1e-5) continue;
    const double at = policy.weights()[i], h = 1e-6;
    policy.weights()[i] = at + h;
    const double above = policy.loss(walked, o, nullptr);
    policy.weights()[i] = at - h;
    const double below = policy.loss(walked, o, nullptr);
    policy.weights()[i] = at;
    CHECK(slope[i] == doctest::Approx((above - below) / (2 * h)).epsilon(1e-3));
    ++checked;
  }
  CHECK(checked > 50);
}

TEST_CASE("a policy learns which way pays") {
  policy_network policy(2, 1, 0, 1e-2, 3);
  const std::vector<double> state{0.3, 0.7};
  support::random r(9);
  for (int round = 0; round < 60; ++round) {
    std::vector<walked_step> walked;
    for (int n = 0; n < 16; ++n) {
      walked_step s;
      s.state = state;
      s.action = policy.act(state, r, s.log_probability);
      s.base = policy.value(state);
      s.gain = s.action[0] == 2 ? 1 : 0;
      walked.push_back(std::move(s));
    }
    for (int epoch = 0; epoch < 3; ++epoch) policy.learn(walked, {0.2, 0.01});
  }
  CHECK(policy.probability(state, 0, 2) > 0.8);
  CHECK(policy.value(state) > 0.6);
}

TEST_CASE("numbers of a trace are turned one step, and not beyond their ends") {
  const search_task task = landscape::tiles();
  const auto c = replay(task.sketches[0], task.function, 1);
  REQUIRE(c);
  const trace& t = c->scheduled.trace();
  const std::vector<search::detail::knob> knobs = search::detail::knobs_of(t);
  CHECK(knobs.size() == 5);
  for (const search::detail::knob& k : knobs)
    for (const bool up : {false, true}) {
      std::optional<trace> now = t;
      const std::size_t at = choices(t)[k.choice];
      int turns = 0;
      while (const auto next = search::detail::turned(*now, k, up, task.function)) {
        const std::int64_t before = (*now)[at].choice[k.factor],
                           after = (*next)[at].choice[k.factor];
        CHECK((up ? after > before : after < before));
        now = next;
        ++turns;
      }
      CHECK(turns <= 6);
    }
}

TEST_CASE("a policy that a knowing model rewards beats chance") {
  std::size_t walked = 0, chance = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto s = ppo(std::make_shared<landscape::knowing_model>());
    walked += landscape::trials_to_fastest(*s, seed, 500);
    const auto random = make_strategy("replay_traces", seed);
    chance += landscape::trials_to_fastest(*random, seed, 500);
  }
  CHECK(walked < chance);
}
