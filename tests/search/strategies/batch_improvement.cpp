#include <tilewright/impl/search/strategies/batch_improvement.hpp>

#include <tilewright/cost/gaussian_process.hpp>
#include <tilewright/learning.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tilewright;
using search::detail::batch_improvement;

namespace {

constexpr double best = 0.3;
const std::vector<double> means{0.1, 0.25, -0.2};

batch_improvement fresh(std::size_t samples = 128) {
  return {means, best, samples, support::random(3)};
}

/// Standard normal numbers, in pairs (Box and Muller).
struct normal_draws {
  support::random r{17};
  std::pair<double, double> next() {
    const double radius = std::sqrt(-2 * std::log(1 - r.unit())),
                 angle = 6.283185307179586 * r.unit();
    return {radius * std::cos(angle), radius * std::sin(angle)};
  }
};

}  // namespace

TEST_CASE("quantiles of the normal distribution are symmetric and have its deviation") {
  const std::vector<double> q = search::detail::normal_quantiles(1000);
  double square = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    CHECK(q[i] == doctest::Approx(-q[q.size() - 1 - i]).epsilon(1e-6));
    square += q[i] * q[i] / static_cast<double>(q.size());
  }
  CHECK(square == doctest::Approx(1).epsilon(0.01));
  CHECK(q[975] == doctest::Approx(1.9600).epsilon(0.01));
}

TEST_CASE("the first pick is worth its expected improvement") {
  const batch_improvement batch = fresh();
  for (std::size_t i = 0; i < means.size(); ++i)
    CHECK(batch.log_gain(i, 0.4) ==
          doctest::Approx(search::log_expected_improvement(means[i], 0.4, best)));
  CHECK(batch.log_gain(0, 0) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("two picks are worth the improvement of the better one of both") {
  // deviations 0.5 and 0.4, correlation 0.6
  const double a = 0.5, b = 0.4, together = 0.6;
  normal_draws draws;
  double sum = 0;
  constexpr int n = 400000;
  for (int i = 0; i < n; ++i) {
    const auto [x, y] = draws.next();
    const double first = means[0] + a * x,
                 second = means[1] + b * (together * x + std::sqrt(1 - together * together) * y);
    sum += std::max({first - best, second - best, 0.0}) / n;
  }
  batch_improvement batch = fresh(512);
  const double first = std::exp(batch.log_gain(0, a));
  batch.add(0, {a, b * together, 0});
  const double second = std::exp(batch.log_gain(1, b * std::sqrt(1 - together * together)));
  CHECK(first + second == doctest::Approx(sum).epsilon(0.02));
}

TEST_CASE("what is known when the first pick is known adds nothing to it") {
  batch_improvement batch({0.1, 0.1}, best, 128, support::random(1));
  batch.add(0, {0.5, 0.5});  // the same value, wherever it lies
  CHECK(batch.log_gain(1, 0) == -std::numeric_limits<double>::infinity());
}
