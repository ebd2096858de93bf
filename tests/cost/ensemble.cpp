#include <tilewright/cost/ensemble.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "cost/factor_models.hpp"

using namespace tilewright;
using namespace tilewright::cost;

using factor_models::factor;
using factor_models::programs;

TEST_CASE("who ranks well counts more and more") {
  const auto right = factor(3), wrong = factor(-1e6);
  ensemble_model both({right, wrong});
  CHECK(both.weights() == std::vector<double>{0.5, 0.5});
  for (int round = 0; round < 6; ++round) both.update(programs(1, 9));
  CHECK(both.weights()[0] > 0.9);
  CHECK(right->learned == 48);
  CHECK(wrong->learned == 48);
  std::vector<sample> list = programs(1, 20);
  for (sample& s : list) s.seconds = std::numeric_limits<double>::infinity();
  const std::vector<double> scores = both.predict(list);
  CHECK(std::is_sorted(scores.begin(), scores.end()));
}

TEST_CASE("small and failed batches judge nobody") {
  ensemble_model both({factor(1), factor(-1)});
  both.update(programs(1, 4));
  std::vector<sample> failed = programs(1, 9);
  for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
  both.update(failed);
  CHECK(both.weights() == std::vector<double>{0.5, 0.5});
}

TEST_CASE("scores of two calls have one scale until something is learned") {
  ensemble_model both({factor(1), factor(2)});
  const std::vector<double> slow = both.predict(programs(1, 9)),
                            fast = both.predict(programs(101, 109));
  // whoever compares the generations of a search sees that the second ones are better
  CHECK(*std::min_element(fast.begin(), fast.end()) > *std::max_element(slow.begin(), slow.end()));
  CHECK(both.predict(programs(1, 3)).front() == slow.front());
  both.update(programs(1, 9));
  CHECK(both.predict(programs(101, 109)) == slow);
}

TEST_CASE("an ensemble is saved with its members") {
  ensemble_model a({factor(1), factor(-1)}), b({factor(1), factor(-1)});
  a.update(programs(1, 9));
  b.load(a.save());
  CHECK(a.weights() == b.weights());
  const std::string text = b.save();
  for (const std::string& bad :
       {std::string(), std::string("ensemble 1 3\n"), text.substr(0, text.size() - 3),
        std::string("ensemble 1 2\n0.5 nan \n")}) {
    CHECK_THROWS_AS(b.load(bad), argument_error);
    CHECK(b.save() == text);
  }
}

TEST_CASE("an ensemble has members") {
  CHECK_THROWS_AS(ensemble_model({}), argument_error);
  CHECK_THROWS_AS(ensemble_model({nullptr}), argument_error);
  ensemble_model one({factor(2)});
  CHECK(one.predict({}).empty());
  CHECK(one.predict(programs(3, 4)) == std::vector<double>{0});
}
