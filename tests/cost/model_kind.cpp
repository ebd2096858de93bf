#include <tilewright/cost/model_kind.hpp>

#include <tilewright/learning.hpp>
#include <tilewright/support/error.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace tilewright;

TEST_CASE("models are made by name") {
  std::set<std::string_view> names;
  for (const cost::model_kind& k : cost::model_kinds()) {
    INFO(k.name);
    CHECK(names.insert(k.name).second);
    CHECK(!k.what.empty());
    const auto m = cost::make_model(k.name, 3);
    REQUIRE(m);
    CHECK(m->predict({}).empty());
    CHECK_NOTHROW(m->load(m->save()));
  }
  for (const char* expected : {"random", "trees", "prior", "graph_network"})
    CHECK(names.count(expected) == 1);
  CHECK_THROWS_WITH_AS(cost::make_model("tree"), doctest::Contains("there are random, trees"),
                       argument_error);
}

TEST_CASE("a kind of the same name takes the place of the first") {
  const std::size_t before = cost::model_kinds().size();
  const auto make = [](std::uint64_t seed) -> std::unique_ptr<cost::model> {
    return std::make_unique<cost::random_model>(seed);
  };
  cost::add_model_kind({"mine", "first", make});
  cost::add_model_kind({"mine", "second", make});
  CHECK(cost::model_kinds().size() == before + 1);
  CHECK(cost::model_kinds().back().what == "second");
}
