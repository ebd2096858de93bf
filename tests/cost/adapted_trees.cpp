#include <tilewright/cost/adapted_trees.hpp>

#include <tilewright/cost/prior.hpp>
#include <tilewright/cost/ranking.hpp>
#include <tilewright/impl/cost/trees/leaf_process.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using tiled_copies::copies;
using tiled_copies::measured_set;

namespace {

const gbt& narrow_prior() {
  static const gbt out = prior_of(copies(1, 32).samples);
  return out;
}

/// Copies of another workload, where rows of 128 are the fastest and the prior's 16 are not.
measured_set wider() {
  measured_set out = copies(2, 64);
  std::size_t i = 0;
  for (int rows = 0; rows < 8; ++rows)
    for (int tile = 1; tile <= 512; tile *= 2, ++i) {
      out.samples[i].seconds = 1e-3 * (tile > 128 ? tile / 128.0 : 128.0 / tile);
      out.speed[i] = 1 / out.samples[i].seconds;
    }
  return out;
}

/// Every third program, and what is left.
std::pair<std::vector<sample>, measured_set> split(const measured_set& all) {
  std::pair<std::vector<sample>, measured_set> out;
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    if (i % 3 == 0) {
      out.first.push_back(all.samples[i]);
      continue;
    }
    out.second.samples.push_back(all.samples[i]);
    out.second.speed.push_back(all.speed[i]);
  }
  return out;
}

/// x of A x = b, by elimination with pivots.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const double f = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= f * a[c][k];
      b[r] -= f * b[c];
    }
  }
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t k = r + 1; k < n; ++k) b[r] -= a[r][k] * b[k];
    b[r] /= a[r][r];
  }
  return b;
}

double kernel(const cost::detail::leaf_place& a, const cost::detail::leaf_place& b,
              std::size_t trees) {
  double out = 0;
  for (const auto& p : a.parts)
    for (const auto& q : b.parts)
      if (p.leaf == q.leaf) out += static_cast<double>(p.share) * static_cast<double>(q.share);
  return out / static_cast<double>(trees);
}

}  // namespace

TEST_CASE(
    "places of programs: every tree has a part of length 1, and the score is that of the trees") {
  const measured_set all = copies(3, 16);
  const cost::detail::leaf_space space(narrow_prior());
  CHECK(space.trees() == narrow_prior().trees());
  for (const ir::function& f : all.programs) {
    const auto rows = store_features(f);
    const cost::detail::leaf_place at = space.of(rows.front().data(), rows.size());
    CHECK(at.score == doctest::Approx(narrow_prior().score(rows.front().data(), rows.size())));
    CHECK(kernel(at, at, space.trees()) == doctest::Approx(1));
    for (const auto& p : at.parts) CHECK(p.leaf < space.leaves());
  }
}

TEST_CASE("the process over leaves expects what a Gaussian process with that kernel does") {
  const measured_set all = wider();
  const cost::detail::leaf_space space(narrow_prior());
  std::vector<cost::detail::leaf_place> places;
  for (const ir::function& f : all.programs) {
    const auto rows = store_features(f);
    places.push_back(space.of(rows.front().data(), rows.size()));
  }
  const std::size_t n = 12;
  cost::detail::leaf_process process;
  for (std::size_t i = 0; i < n; ++i) process.add(places[3 * i], all.samples[3 * i].seconds, space);
  process.fit(space);

  // the same by the book: labels are best / seconds, the mean is a line with a shrunk correlation
  double best = 1, mean_y = 0, mean_s = 0, ss = 0, sy = 0, yy = 0;
  for (std::size_t i = 0; i < n; ++i) best = std::min(best, all.samples[3 * i].seconds);
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i) y.push_back(best / all.samples[3 * i].seconds);
  for (std::size_t i = 0; i < n; ++i) {
    mean_y += y[i] / n;
    mean_s += places[3 * i].score / n;
  }
  for (std::size_t i = 0; i < n; ++i) {
    ss += std::pow(places[3 * i].score - mean_s, 2);
    sy += (places[3 * i].score - mean_s) * (y[i] - mean_y);
    yy += std::pow(y[i] - mean_y, 2);
  }
  const double slope =
      std::max((n * sy / std::sqrt(ss * yy) + 2) / (n + 4), 0.0) * std::sqrt(yy / ss);
  std::vector<std::vector<double>> k(n, std::vector<double>(n));
  std::vector<double> rest;
  for (std::size_t i = 0; i < n; ++i) {
    rest.push_back(y[i] - mean_y - slope * (places[3 * i].score - mean_s));
    for (std::size_t j = 0; j < n; ++j)
      k[i][j] = kernel(places[3 * i], places[3 * j], space.trees()) + (i == j ? 0.05 : 0);
  }
  const std::vector<double> weight = solved(k, rest);
  for (const cost::detail::leaf_place& at : places) {
    double expected = mean_y + slope * (at.score - mean_s);
    for (std::size_t i = 0; i < n; ++i)
      expected += weight[i] * kernel(at, places[3 * i], space.trees());
    CHECK(process(at) == doctest::Approx(expected).epsilon(1e-4));
  }
}

TEST_CASE("adapted trees are the prior until something is measured") {
  const measured_set all = wider();
  adapted_trees m(narrow_prior());
  tree_model trees({}, narrow_prior());
  CHECK(m.predict(all.samples) == trees.predict(all.samples));
  std::vector<sample> failed(all.samples.begin(), all.samples.begin() + 20);
  for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
  m.update(failed);
  trees.update(failed);
  CHECK(m.predict(all.samples) == trees.predict(all.samples));
}

TEST_CASE("adapted trees rank what the prior was wrong about, better than a few more trees do") {
  const measured_set all = wider();
  const auto [few, others] = split(all);
  adapted_trees m(narrow_prior());
  tree_model trees({}, narrow_prior());
  CHECK(pairwise_accuracy(m.predict(others.samples), others.speed) < 0.7);
  m.update(std::span(few).first(12));
  trees.update(std::span(few).first(12));
  const double adapted = pairwise_accuracy(m.predict(others.samples), others.speed),
               boosted = pairwise_accuracy(trees.predict(others.samples), others.speed);
  CHECK(adapted > 0.9);
  CHECK(adapted >= boosted);
}

TEST_CASE("adapted trees learn one workload without a word of the others") {
  const measured_set all = wider(), other = copies(1, 32);
  adapted_trees m(narrow_prior());
  m.update(std::span(all.samples).first(16));
  m.update(std::span(other.samples).first(16));
  CHECK(pairwise_accuracy(m.predict(all.samples), all.speed) > 0.85);
  CHECK(pairwise_accuracy(m.predict(other.samples), other.speed) > 0.85);
}

TEST_CASE("adapted trees: copies of one program count once, and times that are none do not") {
  const measured_set all = wider();
  std::vector<sample> poisoned(all.samples.begin(), all.samples.begin() + 30);
  adapted_trees clean(narrow_prior()), m(narrow_prior());
  clean.update(poisoned);
  const std::size_t first = poisoned.size();
  for (int i = 0; i < 2000; ++i) poisoned.push_back(poisoned[static_cast<std::size_t>(i) % 3]);
  for (const double none : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    poisoned.push_back(all.samples[first]);
    poisoned.back().seconds = none;
  }
  m.update(poisoned);
  for (const double s : m.predict(all.samples)) CHECK(std::isfinite(s));
  CHECK(pairwise_accuracy(m.predict(all.samples), all.speed) >
        pairwise_accuracy(clean.predict(all.samples), all.speed) - 0.1);
  std::vector<sample> equal = all.samples;
  for (sample& s : equal) s.seconds = 1e-3;
  adapted_trees flat(narrow_prior());
  flat.update(equal);
  for (const double s : flat.predict(all.samples)) CHECK(std::isfinite(s));
}

TEST_CASE("adapted trees forget the older half of what would be too much to solve for") {
  std::vector<measured_set> many;
  for (int i = 0; i < 9; ++i) many.push_back(copies(7, 8 + 8 * i));  // 720 programs of one workload
  adapted_trees m(narrow_prior());
  for (const measured_set& part : many) m.update(part.samples);
  CHECK(pairwise_accuracy(m.predict(many.back().samples), many.back().speed) > 0.95);
  CHECK(pairwise_accuracy(m.predict(many.front().samples), many.front().speed) > 0.9);
}

TEST_CASE(
    "adapted trees: of many programs half as many have to be new before trees are added again") {
  std::vector<sample> all;
  const measured_set a = copies(7, 16), b = copies(7, 24), c = copies(7, 32);
  for (const measured_set* part : {&a, &b, &c})
    all.insert(all.end(), part->samples.begin(), part->samples.end());
  REQUIRE(all.size() == 240);
  adapted_trees m(narrow_prior());
  auto learn = [&, at = std::size_t{0}](std::size_t count) mutable {
    m.update(std::span(all).subspan(at, count));
    at += count;
    return m.save();
  };
  const std::string few = learn(64), more = learn(16), many = learn(64);
  CHECK(few != more);
  CHECK(more != many);
  CHECK(learn(48) == many);  // a third of 144
  CHECK(learn(24) != many);
}

TEST_CASE("adapted trees score alike however often they were asked between what they learned") {
  const measured_set all = wider();
  adapted_trees asked(narrow_prior()), silent(narrow_prior());
  for (std::size_t at = 0; at + 7 <= 70; at += 7) {
    const auto part = std::span(all.samples).subspan(at, 7);
    asked.update(part);
    silent.update(part);
    asked.predict(all.samples);
  }
  CHECK(asked.predict(all.samples) == silent.predict(all.samples));
}

TEST_CASE("adapted trees are saved as trees, which are the prior of whoever loads them") {
  const measured_set all = wider();
  adapted_trees m(narrow_prior()), loaded(prior_of(all.samples, 7));
  m.update(std::span(all.samples).first(16));
  loaded.load(m.save());
  CHECK(loaded.save() == m.save());
  tree_model trees({}, gbt::load(m.save()));
  CHECK(loaded.predict(all.samples) == trees.predict(all.samples));
  CHECK_THROWS_AS(loaded.load("tilewright-gbt 1 3 0 1\n0 1.5\n"), argument_error);
  CHECK(loaded.save() == m.save());
}

TEST_CASE("adapted trees without a prior draw scores until there is enough to learn") {
  const measured_set all = copies(1, 32);
  adapted_trees m{gbt()};
  tree_model trees;
  CHECK(m.predict(all.samples) == trees.predict(all.samples));
  m.update(all.samples);
  CHECK(pairwise_accuracy(m.predict(all.samples), all.speed) > 0.95);
  tree_model_options own;
  own.extractor.columns = 2;
  own.extractor.rows = [](const ir::function&) { return std::vector<float>(2); };
  CHECK_THROWS_AS(adapted_trees(gbt(), own), argument_error);
}
