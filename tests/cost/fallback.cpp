#include <tilewright/cost/fallback.hpp>

#include <doctest/doctest.h>

#include "cost/factor_models.hpp"

using namespace tilewright;
using namespace tilewright::cost;
using factor_models::factor;
using factor_models::programs;

TEST_CASE("after two bad batches the reserve scores, and after two good ones the first again") {
  const auto first = factor(-1), reserve = factor(2);
  fallback_model m(first, reserve);
  m.update(programs(1, 9));
  CHECK_FALSE(m.fell_back());
  CHECK(m.predict(programs(3, 4)) == std::vector<double>{-3});
  m.update(programs(1, 4));  // too few to judge
  m.update(programs(1, 9));
  CHECK(m.fell_back());
  CHECK(m.predict(programs(3, 4)) == std::vector<double>{6});
  CHECK(first->learned == 19);
  CHECK(reserve->learned == 19);
  first->factor = 1;
  m.update(programs(1, 9));
  CHECK(m.fell_back());
  m.update(programs(1, 9));
  CHECK_FALSE(m.fell_back());
}

TEST_CASE("a fallback is saved with its models, and needs both") {
  fallback_model a(factor(1), factor(2)), b(factor(1), factor(2));
  b.load(a.save());
  CHECK(b.save() == a.save());
  const std::string text = a.save();
  for (const std::string& bad : {std::string(), std::string("fallback 1\nmember 99\n"),
                                 text.substr(0, text.size() - 2), text + "x"})
    CHECK_THROWS_AS(b.load(bad), argument_error);
  CHECK_THROWS_AS(fallback_model(nullptr, factor(1)), argument_error);
}
