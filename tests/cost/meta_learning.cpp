#include <tilewright/cost/meta_learning.hpp>

#include <tilewright/impl/cost/meta/fomaml.hpp>
#include <tilewright/impl/cost/meta/maml.hpp>
#include <tilewright/impl/cost/meta/reptile.hpp>
#include <tilewright/learning.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using cost::detail::layer_vector;

namespace {

meta_options small() {
  meta_options o;
  o.shots = 6;
  o.queries = 8;
  o.tasks = 2;
  o.inner_steps = 3;
  o.inner_rate = 0.1;
  return o;
}

/// An episode of random embeddings, and weights at which no unit is about to switch.
struct random_episode {
  cost::detail::episode e;
  layer_vector head;

  explicit random_episode(std::size_t ways) : head(cost::detail::head_pass::size()) {
    support::random r(3);
    for (Eigen::Index i = 0; i < head.size(); ++i) head[i] = 0.3 * (r.unit() - 0.5);
    for (std::size_t w = 0; w < ways; ++w)
      for (auto* part : {&e.support, &e.query}) {
        cost::detail::embedded_programs p;
        p.x.resize(7, static_cast<Eigen::Index>(embedding_width));
        for (Eigen::Index i = 0; i < p.x.size(); ++i) p.x.data()[i] = r.unit();
        for (int i = 0; i < 7; ++i) p.labels.push_back(r.unit());
        part->push_back(std::move(p));
      }
  }
};

}  // namespace

TEST_CASE("products with the Hessian are those of finite differences of the slope") {
  for (const objective goal : {objective::squared, objective::pairwise}) {
    const random_episode at(2);
    support::random r(5);
    layer_vector v(at.head.size());
    for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = r.unit() - 0.5;
    const double h = 1e-6;
    const layer_vector above =
                           cost::detail::head_slope(at.head + h * v, at.e.support, goal).by_weight,
                       below =
                           cost::detail::head_slope(at.head - h * v, at.e.support, goal).by_weight;
    const layer_vector exact = cost::detail::head_curvature(at.head, at.e.support, goal, v);
    const layer_vector near = (above - below) / (2 * h);
    CHECK(exact.norm() > 0);
    CHECK((exact - near).norm() < 1e-4 * exact.norm());
  }
}

TEST_CASE("MAML's slope is that of the adapted weights' loss, FOMAML's is near it") {
  meta_options o = small();
  const random_episode at(1);
  const cost::detail::meta_slope exact = cost::detail::maml_slope(at.head, at.e, o),
                                 first = cost::detail::fomaml_slope(at.head, at.e, o);
  const auto loss = [&](const layer_vector& head) {
    return cost::detail::head_slope(cost::detail::adapted(head, at.e.support, o).back(), at.e.query,
                                    o.goal)
        .loss;
  };
  CHECK(exact.loss == doctest::Approx(loss(at.head)));
  CHECK(first.loss == exact.loss);
  support::random r(8);
  for (int n = 0; n < 2; ++n) {
    layer_vector v(at.head.size());
    for (Eigen::Index i = 0; i < v.size(); ++i) v[i] = r.unit() - 0.5;
    const double h = 1e-6, near = (loss(at.head + h * v) - loss(at.head - h * v)) / (2 * h);
    CHECK(exact.by_weight.dot(v) == doctest::Approx(near).epsilon(1e-3));
  }
  const double cosine =
      exact.by_weight.dot(first.by_weight) / exact.by_weight.norm() / first.by_weight.norm();
  CHECK(cosine > 0.5);
  CHECK(cosine < 1 - 1e-9);
}

TEST_CASE("Reptile moves towards the adapted weights") {
  const meta_options o = small();
  const random_episode at(1);
  const layer_vector to =
      cost::detail::adapted(cost::detail::adapted(at.head, at.e.support, o).back(), at.e.query, o)
          .back();
  const cost::detail::meta_slope slope = cost::detail::reptile_slope(at.head, at.e, o);
  CHECK((at.head - 0.1 * slope.by_weight - to).norm() < (at.head - to).norm());
}

TEST_CASE(
    "every method lowers the loss after adapting, repeatably, and leaves convolutions alone") {
  tiled_copies::measured_set train = tiled_copies::copies(1, 4);
  const tiled_copies::measured_set more = tiled_copies::copies(2, 40);
  train.samples.insert(train.samples.end(), more.samples.begin(), more.samples.end());
  for (const meta_method m : {meta_method::fomaml, meta_method::maml, meta_method::reptile}) {
    INFO(cost::name(m));
    graph_network_options g;
    g.epochs = 2;
    graph_model a(g), b(g);
    a.pretrain(train.samples);
    b.pretrain(train.samples);
    const std::vector<double> embedded = a.embeddings(train.samples);
    meta_options o = small();
    o.method = m;
    o.iterations = 30;
    o.outer_rate = 3e-3;
    const std::vector<double> losses = meta_train(a, train.samples, o);
    REQUIRE(losses.size() > 10);
    CHECK(losses.back() < losses.front());
    CHECK(a.embeddings(train.samples) == embedded);
    meta_train(b, train.samples, o);
    CHECK(a.head() == b.head());
    for (const double s : a.predict(train.samples)) CHECK(std::isfinite(s));
  }
}

TEST_CASE("too few programs change nothing") {
  const tiled_copies::measured_set all = tiled_copies::copies(1, 4);
  graph_model m;
  const std::vector<double> before = m.head();
  CHECK(meta_train(m, std::span(all.samples).first(5), small()).empty());
  std::vector<sample> failed = all.samples;
  for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
  CHECK(meta_train(m, failed, small()).empty());
  CHECK(m.head() == before);
  CHECK_THROWS_AS(m.set_head(std::vector<double>(3, 0.0)), argument_error);
}
