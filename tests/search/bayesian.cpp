#include <tilewright/search/strategies/bayesian.hpp>

#include <tilewright/learning.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "search/kernels.hpp"
#include "search/strategies/landscape.hpp"

using namespace tilewright;
using namespace tilewright::search;

namespace {

search_task product() {
  search_task out;
  out.function = reify(kernels::matmul_relu, {{"M", 96}, {"N", 128}, {"K", 192}});
  static const target::cpu cpu = target::named("haswell");
  const space::context where{&cpu, 1};
  for (const schedule& s : space::default_cpu().sketches(out.function, where, 1))
    out.sketches.push_back(s.trace().without_decisions());
  out.sketches.resize(1);
  return out;
}

/// A bowl in the coordinates of the trace: its time doubles with each 0.5 of distance.
struct bowl {
  trace_coordinates coordinates;
  double operator()(const candidate& c) const {
    double square = 0;
    for (const double x : coordinates.of(c.scheduled.trace()).ordered)
      square += (x - 0.35) * (x - 0.35);
    return 1e-3 * std::exp2(2 * std::sqrt(square));
  }
};

double best_after(strategy& s, const bowl& time, int rounds) {
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < rounds; ++r) {
    const std::vector<candidate> batch = s.propose(8, {});
    std::vector<double> seconds;
    for (const candidate& c : batch) seconds.push_back(time(c));
    s.learn(batch, seconds);
    for (const double t : seconds) best = std::min(best, t);
  }
  return best;
}

bayesian_options small() {
  bayesian_options o;
  o.drawn = 48;
  o.changed = 48;
  return o;
}

}  // namespace

TEST_CASE("expected improvement is that of its integral, and of its tail") {
  // sigma (phi(u) + u Phi(u)) at u = 0 is sigma / sqrt(2 pi)
  CHECK(log_expected_improvement(1, 2, 1) == doctest::Approx(std::log(2 * 0.3989422804)));
  const auto by_sum = [](double mean, double deviation, double best) {
    double out = 0;
    const int n = 200000;
    for (int i = 0; i < n; ++i) {
      const double z = -12 + 24 * (i + 0.5) / n, x = mean + deviation * z;
      out += std::max(x - best, 0.0) * std::exp(-0.5 * z * z) / std::sqrt(2 * 3.141592653589793);
    }
    return std::log(out * 24 / n);
  };
  for (const double mean : {-3.0, -1.0, 0.5, 2.0})
    CHECK(log_expected_improvement(mean, 0.7, 0.4) ==
          doctest::Approx(by_sum(mean, 0.7, 0.4)).epsilon(1e-5));
  SUBCASE("where the formula becomes the series nothing jumps") {
    CHECK(log_expected_improvement(-7.9999999, 1, 0) ==
          doctest::Approx(log_expected_improvement(-8.0000001, 1, 0)).epsilon(1e-4));
  }
  SUBCASE("far away candidates still differ") {
    const double a = log_expected_improvement(-50, 1, 0), b = log_expected_improvement(-51, 1, 0);
    CHECK(std::isfinite(a));
    CHECK(std::isfinite(b));
    CHECK(a > b);
  }
  CHECK(log_expected_improvement(1, 0, 3) == -std::numeric_limits<double>::infinity());
  CHECK(log_expected_improvement(3, 0, 1) == doctest::Approx(std::log(2.0)));
}

TEST_CASE("it finds the bottom of a bowl in fewer trials than chance, whatever a pick is worth") {
  const search_task task = product();
  const bowl time{trace_coordinates(task.sketches)};
  double chance = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    auto s = make_strategy("replay_traces", seed);
    s->start(task, seed);
    chance += std::log(best_after(*s, time, 16));
  }
  for (const fantasy f :
       {fantasy::believer, fantasy::liar, fantasy::penalization, fantasy::joint}) {
    double learned = 0;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      bayesian_options o = small();
      o.fantasy = f;
      auto s = bayesian(nullptr, o);
      s->start(task, seed);
      learned += std::log(best_after(*s, time, 8));
    }
    INFO("fantasy ", static_cast<int>(f));
    CHECK(learned < chance);
  }
}

TEST_CASE("a process of a knowing model's scores beats chance, and asks it about few programs") {
  struct counting final : cost::model {
    landscape::knowing_model knowing;
    std::size_t asked = 0;
    std::vector<double> predict(std::span<const cost::sample> programs) override {
      asked += programs.size();
      return knowing.predict(programs);
    }
    void update(std::span<const cost::sample>) override {}
    std::string save() const override { return {}; }
    void load(std::string_view) override {}
  };
  double learned = 0, chance = 0;
  std::size_t asked[2] = {0, 0};
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    for (const fitted_to what : {fitted_to::scores, fitted_to::measurements}) {
      const auto model = std::make_shared<counting>();
      bayesian_options o = small();
      o.process_of = what;
      o.scored = 24;
      const auto s = bayesian(model, o);
      s->start(landscape::tiles(), seed);
      const double best = landscape::curve(*s, 48).back();
      if (what == fitted_to::scores) learned += std::log(best);
      asked[what == fitted_to::scores ? 0 : 1] += model->asked;
    }
    const auto random = make_strategy("replay_traces", seed);
    random->start(landscape::tiles(), seed);
    chance += std::log(landscape::curve(*random, 48).back());
  }
  CHECK(learned < chance);
  CHECK(2 * asked[0] < asked[1]);
}

TEST_CASE("a batch is spread out") {
  const search_task task = product();
  const trace_coordinates coordinates(task.sketches);
  const bowl time{coordinates};
  for (const fantasy f : {fantasy::believer, fantasy::joint}) {
    bayesian_options o = small();
    o.fantasy = f;
    auto s = bayesian(nullptr, o);
    s->start(task, 4);
    best_after(*s, time, 3);
    const std::vector<candidate> batch = s->propose(8, {});
    REQUIRE(batch.size() == 8);
    for (std::size_t i = 0; i < batch.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK(batch[i].identity != batch[j].identity);
  }
}

TEST_CASE("programs beside failed ones are left for later") {
  const search_task task = product();
  const trace_coordinates coordinates(task.sketches);
  const auto valid = [&](const candidate& c) {
    return coordinates.of(c.scheduled.trace()).ordered[0] < 0.5;
  };
  auto s = bayesian(nullptr, small());
  s->start(task, 2);
  std::size_t early = 0, late = 0;
  for (int r = 0; r < 10; ++r) {
    const std::vector<candidate> batch = s->propose(8, {});
    std::vector<double> seconds;
    for (const candidate& c : batch) {
      seconds.push_back(valid(c) ? 1e-3 : std::numeric_limits<double>::infinity());
      (r < 2 ? early : late) += valid(c) ? 0 : 1;
    }
    s->learn(batch, seconds);
  }
  CHECK(late < 4 * early);  // in four times as many rounds
}

TEST_CASE("spaces of few programs end") {
  for (const int extent : {1, 2, 3}) {
    search_task task;
    task.function = reify(kernels::square_root, {{"N", extent}});
    static const target::cpu cpu = target::named("haswell");
    const space::context where{&cpu, 1};
    for (const schedule& s : space::default_cpu().sketches(task.function, where, 1))
      task.sketches.push_back(s.trace().without_decisions());
    auto s = bayesian(nullptr, small());
    s->start(task, 1);
    std::size_t proposed = 0;
    for (int r = 0; r < 40; ++r) {
      const std::vector<candidate> batch = s->propose(4, {});
      const std::vector<double> seconds(batch.size(), 1e-3);
      s->learn(batch, seconds);
      proposed += batch.size();
    }
    INFO("extent ", extent);
    CHECK(proposed < 160);
    CHECK(s->propose(4, {}).empty());
  }
}
