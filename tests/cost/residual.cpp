#include <tilewright/cost/residual.hpp>

#include <tilewright/cost/ranking.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "cost/factor_models.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using factor_models::factor;

namespace {

/// Remembers the times it was told, and scores by them.
struct remembering final : model {
  std::map<std::uint64_t, double> times;
  std::vector<double> predict(std::span<const sample> list) override {
    std::vector<double> out;
    for (const sample& s : list)
      out.push_back(times.count(s.key.lo % 2) ? -std::log(times[s.key.lo % 2]) : 0);
    return out;
  }
  void update(std::span<const sample> measured) override {
    for (const sample& s : measured) times[s.key.lo % 2] = s.seconds;
  }
  std::string save() const override { return "remembering"; }
  void load(std::string_view) override {}
};

/// The base knows the part exp(n / 10) of a speed, and nothing of a factor of 4 that odd numbers
/// have beside it.
std::vector<sample> measured(std::uint64_t from, std::uint64_t to) {
  std::vector<sample> out;
  for (std::uint64_t n = from; n < to; ++n)
    out.push_back({nullptr,
                   {0, n},
                   {1, 0},
                   std::exp(-0.1 * static_cast<double>(n)) / (n % 2 == 1 ? 4.0 : 1.0)});
  return out;
}

}  // namespace

TEST_CASE("the local model learns what the base misses") {
  residual_model m(factor(1), std::make_shared<remembering>());
  const std::vector<sample> test = measured(40, 60);
  std::vector<double> speed;
  for (const sample& s : test) speed.push_back(1 / s.seconds);
  const double before = pairwise_accuracy(m.predict(test), speed);
  for (std::uint64_t n = 0; n < 32; n += 8) m.update(measured(n, n + 8));
  const double after = pairwise_accuracy(m.predict(test), speed);
  CHECK(before < 0.8);
  CHECK(after > 0.95);
}

TEST_CASE("failures alone do no harm, and a residual needs both models") {
  residual_model m(factor(1), factor(2));
  std::vector<sample> failed = measured(0, 8);
  for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
  m.update(failed);
  for (const double s : m.predict(measured(0, 8))) CHECK(std::isfinite(s));
  CHECK_THROWS_AS(residual_model(factor(1), nullptr), argument_error);
  residual_model other(factor(1), factor(2));
  other.load(m.save());
  CHECK_THROWS_AS(other.load("residual 1\nmember 3\nabc"), argument_error);
}
