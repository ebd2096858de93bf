#include <tilewright/cost/draft.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "cost/factor_models.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using factor_models::factor;
using factor_models::programs;

namespace {

/// Notes what it is asked about; the scores are those of the slowest first.
struct noting final : model {
  std::set<std::uint64_t> asked;
  std::vector<double> predict(std::span<const sample> list) override {
    std::vector<double> out;
    for (const sample& s : list) {
      asked.insert(s.key.lo);
      out.push_back(-static_cast<double>(s.key.lo));
    }
    return out;
  }
  void update(std::span<const sample>) override {}
  std::string save() const override { return "noting"; }
  void load(std::string_view) override {}
};

}  // namespace

TEST_CASE("the exact model sees one program in eight, and these rank first") {
  const auto exact = std::make_shared<noting>();
  draft_model m(factor(1), exact, 8, 2);
  const std::vector<sample> list = programs(1, 65);
  const std::vector<double> scores = m.predict(list);
  CHECK(exact->asked == std::set<std::uint64_t>{57, 58, 59, 60, 61, 62, 63, 64});
  const double least = *std::min_element(scores.end() - 8, scores.end());
  for (std::size_t i = 0; i + 8 < scores.size(); ++i) CHECK(scores[i] < least);
  CHECK(std::is_sorted(scores.begin(), scores.end() - 8));
  CHECK(std::is_sorted(scores.rbegin(), scores.rbegin() + 8));
  std::vector<sample> turned(list.rbegin(), list.rend());
  std::vector<double> back = m.predict(turned);
  std::reverse(back.begin(), back.end());
  CHECK(back == scores);
  CHECK(m.predict({}).empty());
}

TEST_CASE("a draft needs two models and keeps some") {
  CHECK_THROWS_AS(draft_model(nullptr, factor(1)), argument_error);
  CHECK_THROWS_AS(draft_model(factor(1), factor(1), 0), argument_error);
  draft_model a(factor(1), factor(2)), b(factor(1), factor(2));
  b.load(a.save());
  CHECK_THROWS_AS(b.load("draft 1\n"), argument_error);
}
