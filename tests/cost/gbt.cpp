#include <tilewright/cost/gbt.hpp>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace tilewright;
using namespace tilewright::cost;

namespace {

/// y = f(x) for uniform x in [0, 1)^columns.
template <class F>
dataset sampled(std::size_t count, std::size_t columns, std::uint64_t seed, F f) {
  dataset out;
  out.columns = columns;
  support::random draws(seed);
  std::vector<float> row(columns);
  for (std::size_t i = 0; i < count; ++i) {
    for (float& x : row) x = static_cast<float>(draws.unit());
    out.add(row.data(), 1, f(row));
  }
  return out;
}

float bent(const std::vector<float>& x) {
  return 2 * x[0] + (x[1] > 0.5F ? 1.0F : 0.0F) * x[2] - std::sin(6 * x[3]);
}

std::vector<double> doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

double rms_error(const gbt& model, const dataset& d) {
  const std::vector<float> s = model.scores(d);
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i) sum += std::pow(static_cast<double>(s[i] - d.y[i]), 2);
  return std::sqrt(sum / static_cast<double>(s.size()));
}

}  // namespace

TEST_CASE("trees fit a known function, on points they have not seen") {
  const dataset train = sampled(2000, 8, 1, bent), other = sampled(500, 8, 2, bent);
  gbt model;
  gbt_options o;
  o.rounds = 150;
  const std::vector<double> losses = model.fit(train, o);
  REQUIRE(losses.size() == 151);
  for (std::size_t i = 1; i < losses.size(); ++i) CHECK(losses[i] <= losses[i - 1] + 1e-12);
  CHECK(rms_error(model, train) < 0.08);
  CHECK(rms_error(model, other) < 0.15);
  CHECK(pairwise_accuracy(doubles(model.scores(other)), doubles(other.y)) > 0.95);
}

TEST_CASE("a step function is found exactly") {
  const dataset d = sampled(400, 3, 5, [](const std::vector<float>& x) {
    return x[1] > 0.5F ? 3.0F : x[2] > 0.25F ? 1.0F : -2.0F;
  });
  gbt model;
  gbt_options o;
  o.rate = 1;
  o.l2 = 0;
  o.rounds = 8;
  o.bins = 255;
  o.column_share = 1;
  model.fit(d, o);
  CHECK(rms_error(model, d) < 0.15);
}

TEST_CASE("a sample may have several rows, whose scores add up") {
  dataset d;
  d.columns = 2;
  support::random draws(3);
  for (int i = 0; i < 600; ++i) {
    std::vector<float> rows;
    float label = 0;
    const std::size_t count = 1 + draws.below(3);
    for (std::size_t r = 0; r < count; ++r) {
      const auto a = static_cast<float>(draws.unit()), b = static_cast<float>(draws.unit());
      rows.insert(rows.end(), {a, b});
      label += a > 0.5F ? 1.0F : b;
    }
    d.add(rows.data(), count, label);
  }
  gbt model;
  gbt_options o;
  o.rounds = 200;
  o.column_share = 1;
  model.fit(d, o);
  CHECK(rms_error(model, d) < 0.15);
  const float one[] = {0.9F, 0.1F, 0.2F, 0.3F};
  CHECK(static_cast<double>(model.score(one, 2)) ==
        doctest::Approx(static_cast<double>(model.score(one, 1) + model.score(one + 2, 1) -
                                            model.score(one, 0)))
            .epsilon(1e-5));
}

TEST_CASE("ranking within groups does not compare across them") {
  // the second group is slower by far; only the order within a group can be learned from x[0]
  dataset d;
  d.columns = 2;
  support::random draws(9);
  for (std::uint32_t i = 0; i < 800; ++i) {
    const float x[] = {static_cast<float>(draws.unit()), static_cast<float>(draws.unit())};
    const std::uint32_t g = i % 2;
    d.add(x, 1, (g == 0 ? 1.0F : 0.01F) * x[0] * x[0], g == 0 ? 1.0F : 100.0F, g);
  }
  gbt model;
  gbt_options o;
  o.goal = objective::pairwise;
  const std::vector<double> losses = model.fit(d, o);
  CHECK(losses.back() < losses.front() / 2);
  std::vector<double> scores, truth;
  const std::vector<float> all = model.scores(d);
  for (std::size_t i = 1; i < all.size(); i += 2) {
    scores.push_back(static_cast<double>(all[i]));
    truth.push_back(static_cast<double>(d.y[i]));
  }
  CHECK(pairwise_accuracy(scores, truth) > 0.97);
  CHECK(top_score(scores, truth, 5) > 0.95);
}

TEST_CASE("weights decide where labels disagree") {
  dataset d;
  d.columns = 1;
  for (int i = 0; i < 100; ++i) {
    const float x = static_cast<float>(i % 2);
    d.add(&x, 1, i % 4 < 2 ? 1.0F : 0.0F, i % 4 < 2 ? 3.0F : 1.0F);
  }
  gbt model;
  model.fit(d);
  const float x = 1;
  CHECK(static_cast<double>(model.score(&x, 1)) == doctest::Approx(0.75).epsilon(0.02));
}

TEST_CASE("saved models predict the same, and training can go on") {
  const dataset d = sampled(500, 6, 4, bent);
  gbt model;
  gbt_options o;
  o.rounds = 20;
  model.fit(d, o);
  gbt copy = gbt::load(model.save());
  CHECK(copy == model);
  CHECK(copy.scores(d) == model.scores(d));
  const double before = rms_error(model, d);
  model.boost(d, o);
  copy.boost(d, o);
  CHECK(copy == model);
  CHECK(model.trees() == 40);
  CHECK(rms_error(model, d) < before);
}

TEST_CASE("equal data give equal trees") {
  const dataset d = sampled(300, 6, 4, bent);
  gbt a, b;
  a.fit(d);
  b.fit(d);
  CHECK(a.save() == b.save());
}

TEST_CASE("shuffled labels teach nothing") {
  dataset d = sampled(1000, 10, 6, bent);
  const dataset other = sampled(400, 10, 7, bent);
  support::random draws(8);
  for (std::size_t i = d.y.size(); i-- > 1;) std::swap(d.y[i], d.y[draws.below(i + 1)]);
  gbt model;
  model.fit(d);
  const double accuracy = pairwise_accuracy(doubles(model.scores(other)), doubles(other.y));
  CHECK(accuracy > 0.4);
  CHECK(accuracy < 0.6);
}

TEST_CASE("models and data that do not fit are refused") {
  gbt model;
  dataset d = sampled(50, 3, 1, [](const std::vector<float>& x) { return x[0]; });
  model.fit(d);
  CHECK_THROWS_AS(gbt::load("something else"), argument_error);
  const std::string text = model.save();
  for (std::size_t cut = 0; cut < text.size() - 2; cut += 97)
    CHECK_THROWS_AS(gbt::load(text.substr(0, cut)), argument_error);
  dataset wide = sampled(50, 4, 1, [](const std::vector<float>& x) { return x[0]; });
  CHECK_THROWS_AS(model.boost(wide), argument_error);
  d.y.pop_back();
  CHECK_THROWS_AS(model.boost(d), argument_error);
}

TEST_CASE("data without differences give the mean") {
  dataset d;
  d.columns = 2;
  const float row[] = {1, 2};
  for (int i = 0; i < 10; ++i) d.add(row, 1, static_cast<float>(i));
  gbt model;
  CHECK(model.fit(d).size() == 1);
  CHECK(static_cast<double>(model.score(row, 1)) == doctest::Approx(4.5));
}

TEST_CASE("a saved model with leaves that are no numbers is refused") {
  const std::string head = "tilewright-gbt 1 4 ";
  CHECK(gbt::load(head + "0 1\n1 2 inf 0.5 -0.5\n").trees() == 1);
  for (const char* bad : {"nan 1\n1 2 0 0.5 -0.5\n", "0 1\n1 2 nan 0.5 -0.5\n",
                          "0 1\n1 2 0 inf -0.5\n", "0 1\n1 2 0 0.5 1e30\n"})
    CHECK_THROWS_AS(gbt::load(head + bad), argument_error);
}
