#include <tilewright/cost/mlp.hpp>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/impl/cost/network/mlp_layers.hpp>
#include <tilewright/impl/cost/network/score_loss.hpp>
#include <tilewright/learning.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;

TEST_CASE("the slope of the perceptron is that of finite differences") {
  support::random r(4);
  std::vector<cost::detail::layer_matrix> programs;
  std::vector<const cost::detail::layer_matrix*> pointers;
  std::vector<double> labels;
  for (int n = 0; n < 6; ++n) {
    cost::detail::layer_matrix x(1 + n % 3, static_cast<Eigen::Index>(feature_count));
    for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = 2 * r.unit() - 1;
    programs.push_back(std::move(x));
    labels.push_back(r.unit());
  }
  for (const auto& p : programs) pointers.push_back(&p);
  cost::detail::layer_vector w = cost::detail::random_mlp(1);
  for (Eigen::Index i = 0; i < w.size(); ++i) w[i] += 0.02 * (r.unit() - 0.5);
  const auto loss = [&] {
    const cost::detail::mlp_pass pass(w, pointers);
    return cost::detail::score_loss(pass.scores(), labels, objective::pairwise).value;
  };
  const cost::detail::mlp_pass pass(w, pointers);
  const cost::detail::score_loss l(pass.scores(), labels, objective::pairwise);
  const cost::detail::layer_vector slope = pass.backward(l.by_score, true);
  int checked = 0;
  for (int n = 0; n < 80; ++n) {
    const auto i = static_cast<Eigen::Index>(r.below(static_cast<std::size_t>(w.size())));
    if (std::abs(slope[i]) < 1e-5) continue;
    const double at = w[i], h = 1e-6;
    w[i] = at + h;
    const double above = loss();
    w[i] = at - h;
    const double below = loss();
    w[i] = at;
    CHECK(slope[i] == doctest::Approx((above - below) / (2 * h)).epsilon(1e-3));
    ++checked;
  }
  CHECK(checked > 15);
  const cost::detail::layer_vector few = pass.backward(l.by_score, false);
  CHECK(few.head(static_cast<Eigen::Index>(feature_count)).isZero());
}

TEST_CASE("the perceptron ranks a workload after others, and better after some of its own") {
  const tiled_copies::measured_set train = tiled_copies::copies(1, 4),
                                   test = tiled_copies::copies(3, 100);
  mlp_options o;
  o.epochs = 30;
  mlp_model m(o);
  const std::vector<double> losses = m.pretrain(train.samples);
  CHECK(losses.back() < 0.5 * losses.front());
  CHECK(pairwise_accuracy(m.predict(test.samples), test.speed) > 0.85);
  SUBCASE("saved and loaded it ranks the same") {
    mlp_model other;
    other.load(m.save());
    CHECK(other.save() == m.save());
    const std::vector<double> a = m.predict(test.samples), b = other.predict(test.samples);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == doctest::Approx(a[i]).epsilon(1e-3));
  }
  SUBCASE("a model file is not trusted") {
    const std::string text = m.save();
    for (const std::string& bad :
         {std::string(), std::string("graph_network 1 2\n"), text.substr(0, text.size() / 2)}) {
      CHECK_THROWS_AS(m.load(bad), argument_error);
      CHECK(m.save() == text);
    }
  }
}

TEST_CASE("scores of the perceptron are finite, repeatable, and follow their programs") {
  const tiled_copies::measured_set all = tiled_copies::copies(1, 4);
  mlp_model a, b;
  const std::vector<double> scores = a.predict(all.samples);
  CHECK(scores == b.predict(all.samples));
  std::vector<sample> turned(all.samples.rbegin(), all.samples.rend());
  std::vector<double> back = a.predict(turned);
  std::reverse(back.begin(), back.end());
  for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == doctest::Approx(scores[i]));
  CHECK(a.predict({}).empty());
  std::vector<sample> failed = all.samples;
  for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
  a.update(failed);
  for (const double s : a.predict(all.samples)) CHECK(std::isfinite(s));
}
