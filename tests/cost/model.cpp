#include <tilewright/cost/model.hpp>

#include <tilewright/cost/prior.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using tiled_copies::copies;
using tiled_copies::measured_set;

TEST_CASE("trees learn which programs are fast, also of another workload") {
  const measured_set seen = copies(1, 32), other = copies(2, 64);
  for (const objective goal : {objective::squared, objective::pairwise}) {
    tree_model_options o;
    o.trees.goal = goal;
    tree_model m(o);
    m.update(seen.samples);
    CHECK(m.size() == seen.samples.size());
    REQUIRE_FALSE(m.trees().empty());
    CHECK(pairwise_accuracy(m.predict(seen.samples), seen.speed) > 0.97);
    CHECK(pairwise_accuracy(m.predict(other.samples), other.speed) > 0.9);
    SUBCASE("saved trees predict the same and are a prior") {
      tree_model copy(o);
      copy.load(m.save());
      CHECK(copy.predict(other.samples) == m.predict(other.samples));
      copy.update(std::span(other.samples).first(8));
      CHECK(copy.trees().trees() > m.trees().trees());
    }
  }
}

TEST_CASE("failed programs sink to the bottom") {
  measured_set all = copies(1, 32);
  for (std::size_t i = 0; i < all.samples.size(); i += 10)
    all.samples[i].seconds = std::numeric_limits<double>::infinity();
  tree_model m;
  m.update(all.samples);
  const std::vector<double> s = m.predict(all.samples);
  CHECK(s[0] < s[4]);
}

TEST_CASE("times that are none count as failures, and do not move the others") {
  const measured_set all = copies(1, 32);
  measured_set with = copies(1, 32);
  tree_model m;
  m.update(all.samples);
  for (const double none : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    with.samples[7].seconds = none;
    tree_model poisoned;
    poisoned.update(with.samples);
    const std::vector<double> s = poisoned.predict(all.samples);
    CHECK(pairwise_accuracy(s, all.speed) > 0.9);
  }
}

TEST_CASE("few programs correct a prior with care") {
  const measured_set seen = copies(1, 32), other = copies(2, 64);
  const gbt prior = prior_of(seen.samples);
  tree_model m({}, prior);
  m.update(std::span(other.samples).first(8));
  CHECK(m.trees().trees() == prior.trees() + 16);
  CHECK(pairwise_accuracy(m.predict(other.samples), other.speed) > 0.9);
  m.update(other.samples);
  CHECK(m.trees().trees() == prior.trees() + 60);
}

TEST_CASE("before the first training scores are drawn, from a seed") {
  const measured_set all = copies(1, 32);
  tree_model a, b;
  CHECK(a.predict(all.samples) == b.predict(all.samples));
  a.update(std::span(all.samples).first(3));
  CHECK(a.trees().empty());
}

TEST_CASE("training again waits for enough new data") {
  const measured_set all = copies(1, 32);
  tree_model m;
  m.update(std::span(all.samples).first(40));
  const std::string first = m.save();
  m.update(std::span(all.samples).subspan(40, 7));
  CHECK(m.save() == first);
  m.update(std::span(all.samples).subspan(47, 1));
  CHECK(m.save() != first);
}

TEST_CASE("a random model goes on where it was saved") {
  const measured_set all = copies(1, 32);
  random_model a(7);
  a.predict(all.samples);
  random_model b;
  b.load(a.save());
  CHECK(a.predict(all.samples) == b.predict(all.samples));
  CHECK_THROWS_AS(b.load("trees"), argument_error);
  tree_model t;
  CHECK_THROWS_AS(t.load("random 1 2"), argument_error);
}

TEST_CASE("programs without stores score 0") {
  const ir::function f =
      ir::parse("@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n    T.evaluate(0)\n");
  const measured_set all = copies(1, 32);
  tree_model m;
  m.update(all.samples);
  const sample s{&f, ir::workload_key(f), {}, 1.0};
  CHECK(m.predict(std::span(&s, 1)) == std::vector<double>{0.0});
  m.update(std::span(&s, 1));
}

TEST_CASE("training goes on when the oldest programs are forgotten") {
  const measured_set all = copies(1, 32);
  tree_model_options o;
  o.most_data = 40;
  tree_model m(o);
  m.update(std::span(all.samples).first(40));
  const std::string first = m.save();
  m.update(std::span(all.samples).subspan(40, 20));
  CHECK(m.size() == 40);
  CHECK(m.save() != first);
}

TEST_CASE("features of one's own are asked for once per program and decide the scores") {
  const measured_set all = copies(1, 32);
  int asked = 0;
  tree_model_options o;
  o.extractor.columns = 2;
  o.extractor.rows = [&](const ir::function& f) {
    ++asked;
    const auto* tiles = ir::as_loop(f.body);
    while (tiles && ir::as_loop(tiles->body)) tiles = ir::as_loop(tiles->body);
    return std::vector<float>{1.0f, static_cast<float>(tiles ? ir::as_int(tiles->extent) : 0)};
  };
  tree_model m(o);
  m.update(all.samples);
  CHECK(m.trees().columns() == 2);
  CHECK(pairwise_accuracy(m.predict(all.samples), all.speed) > 0.97);
  CHECK(asked == static_cast<int>(all.samples.size()));
  tree_model copy(o);
  copy.load(m.save());
  CHECK(copy.predict(all.samples) == m.predict(all.samples));
  tree_model standard;
  CHECK_THROWS_AS(standard.load(m.save()), argument_error);
  CHECK_THROWS_AS(tree_model(o, cost::shipped_prior().trees), argument_error);
  o.extractor.rows = [](const ir::function&) { return std::vector<float>(3); };
  tree_model wrong(o);
  CHECK_THROWS_AS(wrong.update(all.samples), argument_error);
  o.extractor.rows = [](const ir::function&) { return std::vector<float>(); };
  tree_model blind(o);
  blind.update(all.samples);
  CHECK(blind.size() == 0);
}
