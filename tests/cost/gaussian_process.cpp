#include <tilewright/cost/gaussian_process.hpp>

#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace tilewright;
using namespace tilewright::cost;

namespace {

mixed_point at(double x) { return {{x}, {0}}; }

/// Random points of `d` ordered coordinates and one category of three.
std::vector<mixed_point> random_points(std::size_t n, std::size_t d, std::uint64_t seed) {
  support::random draws(seed);
  std::vector<mixed_point> out;
  for (std::size_t i = 0; i < n; ++i) {
    mixed_point p;
    for (std::size_t k = 0; k < d; ++k) p.ordered.push_back(draws.unit());
    p.categories = {static_cast<std::int64_t>(draws.below(3))};
    out.push_back(std::move(p));
  }
  return out;
}

double bowl(const mixed_point& p) {
  double out = p.categories[0] == 1 ? 0.3 : 0;
  for (const double x : p.ordered) out -= (x - 0.4) * (x - 0.4);
  return out;
}

std::vector<double> values_at(const std::vector<mixed_point>& points) {
  std::vector<double> out;
  for (const mixed_point& p : points) out.push_back(bowl(p));
  return out;
}

}  // namespace

TEST_CASE("one measurement has the belief of the closed form") {
  gaussian_process g;
  const mixed_kernel k{{0.5}, 1, 0.5, 0.25};
  const std::vector<mixed_point> x{at(0.2)};
  const std::vector<double> y{2};
  g.condition(x, y, k);
  const std::vector<mixed_point> to{at(0.2), at(0.7)};
  const std::vector<belief> b = g.predict(to);
  // covariance of a point with itself is 3 * 0.5; with noise 1.75
  CHECK(b[0].mean == doctest::Approx(2 * 1.5 / 1.75));
  CHECK(b[0].deviation == doctest::Approx(std::sqrt(1.5 - 1.5 * 1.5 / 1.75)));
  const double r = std::sqrt(5.0), matern = (1 + r + r * r / 3) * std::exp(-r);
  const double c = 0.5 * (matern + 1 + matern);
  CHECK(g.covariance(to[0], to[1]) == doctest::Approx(c));
  CHECK(b[1].mean == doctest::Approx(2 * c / 1.75));
  CHECK(b[1].deviation == doctest::Approx(std::sqrt(1.5 - c * c / 1.75)));
}

TEST_CASE("before any data a process believes its prior") {
  const gaussian_process g;
  const std::vector<mixed_point> none;
  CHECK(g.predict(none).empty());
  const std::vector<mixed_point> some{{{}, {}}};
  const std::vector<belief> b = g.predict(some);
  CHECK(b[0].mean == 0);
  CHECK(b[0].deviation == doctest::Approx(std::sqrt(3.0)));
}

TEST_CASE("the gradient of the likelihood is that of finite differences") {
  const std::vector<mixed_point> x = random_points(14, 3, 5);
  const std::vector<double> y = values_at(x);
  gaussian_process g;
  const mixed_kernel start{{0.5, 0.8, 1.5}, 0.7, 0.4, 0.03};
  g.condition(x, y, start);
  const std::vector<double> slope = g.gradient();
  REQUIRE(slope.size() == 6);
  for (std::size_t i = 0; i < slope.size(); ++i) {
    const double h = 1e-5;
    const auto moved = [&](double by) {
      mixed_kernel k = start;
      double& p = i < 3 ? k.lengths[i] : i == 3 ? k.category_length : i == 4 ? k.scale : k.noise;
      p *= std::exp(by);
      g.condition(x, y, k);
      return g.log_likelihood();
    };
    INFO("parameter ", i);
    CHECK(slope[i] == doctest::Approx((moved(h) - moved(-h)) / (2 * h)).epsilon(1e-5));
  }
}

TEST_CASE("fitting raises the likelihood, and what is learned holds elsewhere") {
  const std::vector<mixed_point> x = random_points(60, 4, 1), test = random_points(200, 4, 2);
  const std::vector<double> y = values_at(x), truth = values_at(test);
  gaussian_process g;
  g.condition(x, y, {{0.6, 0.6, 0.6, 0.6}, 1, 0.35, 0.02});
  const double before = g.log_likelihood();
  g = gaussian_process();
  g.fit(x, y);
  CHECK(g.log_likelihood() > before);
  const std::vector<belief> b = g.predict(test);
  double error = 0, variance = 0;
  std::size_t outside = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    error += (b[i].mean - truth[i]) * (b[i].mean - truth[i]);
    variance += truth[i] * truth[i];
    outside += std::abs(b[i].mean - truth[i]) > 3 * b[i].deviation + 0.03 ? 1 : 0;
  }
  CHECK(error < 0.05 * variance);
  CHECK(outside < 10);
}

TEST_CASE("a pool goes on as a process that had measured its picks") {
  const std::vector<mixed_point> x = random_points(20, 3, 7), rest = random_points(30, 3, 8);
  const std::vector<double> y = values_at(x);
  const mixed_kernel k{{0.5, 0.5, 0.9}, 1, 0.3, 0.01};
  gaussian_process g;
  g.condition(x, y, k);
  gaussian_process::pool pool = g.over(rest);
  SUBCASE("with values of their own") {
    std::vector<mixed_point> more = x;
    std::vector<double> values = y;
    for (std::size_t i = 0; i < 20; ++i) {  // more than one piece of memory
      pool.pretend(i, 0.1 * static_cast<double>(i));
      more.push_back(rest[i]);
      values.push_back(0.1 * static_cast<double>(i));
    }
    gaussian_process whole;
    whole.condition(more, values, k);
    const std::vector<belief> expected = whole.predict(rest);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      CHECK(pool.beliefs()[i].mean == doctest::Approx(expected[i].mean).epsilon(1e-6));
      CHECK(pool.beliefs()[i].deviation == doctest::Approx(expected[i].deviation).epsilon(1e-6));
    }
  }
  SUBCASE("a believer leaves all means as they are") {
    const std::vector<belief> before = pool.beliefs();
    pool.pretend(4, before[4].mean);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      CHECK(pool.beliefs()[i].mean == doctest::Approx(before[i].mean));
      CHECK(pool.beliefs()[i].deviation <= before[i].deviation + 1e-12);
    }
    CHECK(pool.beliefs()[4].deviation < 0.5 * before[4].deviation);
  }
}

TEST_CASE("a pool knows how the values of two points go together") {
  const std::vector<mixed_point> x = random_points(12, 2, 3);
  std::vector<mixed_point> rest = random_points(8, 2, 4);
  rest.push_back(rest.front());
  gaussian_process g;
  g.condition(x, values_at(x), {{0.5, 0.7}, 1, 0.3, 0.01});
  const std::vector<belief> before = g.predict(rest);
  std::vector<std::vector<double>> moves;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    gaussian_process::pool pool = g.over(rest);
    moves.push_back(pool.settle(i));
    CHECK(moves[i][i] == doctest::Approx(before[i].deviation));
    CHECK(pool.beliefs()[i].deviation == doctest::Approx(0).epsilon(1e-4));
    for (std::size_t j = 0; j < rest.size(); ++j) {
      CHECK(pool.beliefs()[j].mean == before[j].mean);
      const double left = before[j].deviation * before[j].deviation - moves[i][j] * moves[i][j];
      CHECK(pool.beliefs()[j].deviation ==
            doctest::Approx(std::sqrt(std::max(left, 0.0))).epsilon(1e-6));
    }
    if (i != 0) continue;
    // its twin moves with it, and is known with it
    CHECK(moves[0].back() == doctest::Approx(before[0].deviation));
    for (const double m : pool.settle(rest.size() - 1)) CHECK(m == 0);
  }
  for (std::size_t i = 0; i < rest.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)  // their covariance, seen from either side
      CHECK(moves[i][j] * before[i].deviation ==
            doctest::Approx(moves[j][i] * before[j].deviation).epsilon(1e-6));
}

TEST_CASE("points that are equal do not end it") {
  const std::vector<mixed_point> x(40, at(0.5));
  const std::vector<double> y(40, 1.0);
  gaussian_process g;
  g.fit(x, y);
  const std::vector<mixed_point> to{at(0.5)};
  CHECK(g.predict(to)[0].mean == doctest::Approx(1.0).epsilon(0.05));
}

TEST_CASE("a process says what it cannot learn") {
  gaussian_process g;
  const std::vector<mixed_point> x{at(0.1), at(0.2)};
  const std::vector<double> y{1, 2};
  g.fit(x, y);
  const std::vector<double> one{1};
  CHECK_THROWS_WITH_AS(g.fit(x, one), doctest::Contains("(requirement 1)"), argument_error);
  const std::vector<mixed_point> mixed{at(0.1), {{0.1, 0.2}, {0}}};
  CHECK_THROWS_WITH_AS(g.fit(mixed, y), doctest::Contains("(requirement 2)"), argument_error);
  const std::vector<double> infinite{1, std::numeric_limits<double>::infinity()};
  CHECK_THROWS_WITH_AS(g.fit(x, infinite), doctest::Contains("(requirement 3)"), argument_error);
  CHECK_THROWS_WITH_AS(g.condition(x, y, {{1, 1}, 1, 1, 1}), doctest::Contains("(requirement 4)"),
                       argument_error);
  CHECK_THROWS_WITH_AS(g.condition(x, y, {{0.0}, 1, 1, 1}), doctest::Contains("(requirement 5)"),
                       argument_error);
  CHECK(g.size() == 2);  // nothing was lost
  const std::vector<mixed_point> to{at(0.1)};
  CHECK(std::isfinite(g.predict(to)[0].mean));
}
