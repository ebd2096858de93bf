#include <doctest/doctest.h>

#include <tilewright/support/kind_table.hpp>

namespace {

struct kind {
  std::string_view name;
  int value = 0;
};

using table = tilewright::support::kind_table<kind>;

TEST_CASE("a table of kinds keeps the order in which they came") {
  table t("shape", {{"round", 1}, {"flat", 2}});
  t.add({"long", 3});
  REQUIRE(t.all().size() == 3);
  CHECK(t.all()[0].name == "round");
  CHECK(t.all()[2].name == "long");
  CHECK(t.find("flat").value == 2);
}

TEST_CASE("a kind takes the place of the one of its name") {
  table t("shape", {{"round", 1}, {"flat", 2}});
  t.add({"round", 7});
  REQUIRE(t.all().size() == 2);
  CHECK(t.all()[0].value == 7);
}

TEST_CASE("a name that no kind has is refused with the names there are") {
  const table t("shape", {{"round", 1}, {"flat", 2}});
  CHECK_THROWS_WITH_AS(t.find("square"), "no shape \"square\"; there are round, flat",
                       tilewright::argument_error);
}

}  // namespace
