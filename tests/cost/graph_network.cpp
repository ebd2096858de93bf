#include <tilewright/cost/graph_network.hpp>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using tiled_copies::copies;
using tiled_copies::measured_set;

TEST_CASE("loops stand in the slots of the template") {
  const loop_graph g = graph_of(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    P = T.alloc_buffer((64, 64), "float32")
    for i, j in T.grid(64, 64):
        P[i, j] = B[i, j]
    for i, j, k0, k1 in T.grid(64, 64, 8, 8):
        C[i, j] = C[i, j] + A[i, k0 * 8 + k1] * P[k0 * 8 + k1, j]
)"));
  REQUIRE(g.nodes.size() == 6);
  const std::size_t moves = 3 * slot_levels, reduce = slot_levels;
  CHECK(g.slots == std::vector<std::uint8_t>{
                       static_cast<std::uint8_t>(moves + 1), static_cast<std::uint8_t>(moves), 1, 0,
                       static_cast<std::uint8_t>(reduce + 1), static_cast<std::uint8_t>(reduce)});
  CHECK(g.parents == std::vector<int>{-1, 0, -1, 2, 3, 4});
}

TEST_CASE("the gradient is that of finite differences") {
  for (const objective goal : {objective::squared, objective::pairwise}) {
    graph_network_options o;
    o.goal = goal;
    graph_model m(o);
    const measured_set all = copies(1, 4);
    const std::span<const sample> few = std::span(all.samples).first(20);
    const std::vector<double> slope = m.gradient(few), at = m.values();
    REQUIRE(slope.size() == m.weights());
    support::random draws(9);
    int checked = 0;
    for (int i = 0; i < 400 && checked < 60; ++i) {
      const std::size_t k = draws.below(slope.size());
      if (std::abs(slope[k]) < 1e-5) continue;  // rounding of the difference
      const double h = 1e-6;
      std::vector<double> moved = at;
      moved[k] = at[k] + h;
      m.set_values(moved);
      const double above = m.loss(few);
      moved[k] = at[k] - h;
      m.set_values(moved);
      const double below = m.loss(few);
      INFO("weight ", k);
      CHECK(slope[k] == doctest::Approx((above - below) / (2 * h)).epsilon(1e-3));
      ++checked;
    }
    CHECK(checked > 50);
  }
}

TEST_CASE("what it learned on some workloads ranks another one") {
  measured_set train = copies(1, 4);
  const measured_set more = copies(2, 40), test = copies(3, 100);
  train.samples.insert(train.samples.end(), more.samples.begin(), more.samples.end());
  graph_network_options o;
  o.epochs = 30;
  graph_model m(o);
  const double before = pairwise_accuracy(m.predict(test.samples), test.speed);
  const std::vector<double> losses = m.pretrain(train.samples);
  CHECK(losses.back() < 0.5 * losses.front());
  const double after = pairwise_accuracy(m.predict(test.samples), test.speed);
  CHECK(after > 0.9);
  CHECK(after > before);
  SUBCASE("a saved network predicts the same, within single precision") {
    graph_model other;
    other.load(m.save());
    const std::vector<double> a = m.predict(test.samples), b = other.predict(test.samples);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == doctest::Approx(a[i]).epsilon(1e-3));
    CHECK(other.save() == m.save());
  }
}

TEST_CASE("measurements of a workload tune the network to it") {
  const measured_set all = copies(1, 4);
  graph_model m;
  const std::span<const sample> some = std::span(all.samples).first(40);
  const double before = m.loss(some);
  m.update(some);
  CHECK(m.loss(some) < before);
}

TEST_CASE("scores are finite, repeatable, and follow their programs") {
  const measured_set all = copies(1, 4);
  graph_model a, b;
  const std::vector<double> scores = a.predict(all.samples);
  CHECK(scores == b.predict(all.samples));
  for (const double s : scores) CHECK(std::isfinite(s));
  std::vector<sample> turned(all.samples.rbegin(), all.samples.rend());
  std::vector<double> back = a.predict(turned);
  std::reverse(back.begin(), back.end());
  for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == doctest::Approx(scores[i]));
  CHECK(a.predict({}).empty());
  SUBCASE("failures alone teach nothing, and do no harm") {
    std::vector<sample> failed = all.samples;
    for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
    a.update(failed);
    for (const double s : a.predict(all.samples)) CHECK(std::isfinite(s));
  }
  SUBCASE("equal data in one call or in many make equal networks") {
    graph_network_options o;
    o.retrain_share = 0;
    o.tuning_steps = 8;
    graph_model many(o), one(o);
    const std::span<const sample> few = std::span(all.samples).first(24);
    one.update(few);
    for (const sample& s : few) many.update(std::span(&s, 1));
    CHECK(one.predict(all.samples) == many.predict(all.samples));
  }
  SUBCASE("a program without loops has a score") {
    const ir::function f = ir::parse(
        "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\")):\n    A[0] = T.float32(1)\n");
    const sample s{&f, ir::workload_key(f), {1, 0}};
    CHECK(std::isfinite(a.predict(std::span(&s, 1))[0]));
  }
}

TEST_CASE("a model file is not trusted") {
  graph_model m;
  const std::string text = m.save();
  const auto refuses = [&](const std::string& bad) {
    CHECK_THROWS_AS(m.load(bad), argument_error);
    CHECK(m.save() == text);
  };
  refuses("");
  refuses("gbt 1 2 3");
  refuses(text.substr(0, text.size() / 2));
  std::string nan = text;
  nan.replace(text.find('\n') + 1, 1, "nan ");
  refuses(nan);
  std::string longer = text;
  longer.replace(0, 16, "graph_network 2 ");
  refuses(longer);
}
