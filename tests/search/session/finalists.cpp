#include <tilewright/impl/search/session/finalists.hpp>

#include <vector>

#include <doctest/doctest.h>

using namespace tilewright::search;
using namespace tilewright::search::detail;

TEST_CASE("the slowest finalist makes room for the next") {
  finalists list(2);
  list.add({"a", {}, 3});
  list.add({"b", {}, 2});
  list.add({"c", {}, 1});
  CHECK(list.size() == 2);
  const built baseline;
  const std::vector<contestant> all = list.beside({&baseline, 4, "default"});
  REQUIRE(all.size() == 3);
  CHECK(all[0].code == &baseline);
  CHECK(all[0].trace == "default");
  CHECK(all[1].trace == "b");
  CHECK(all[2].trace == "c");
  CHECK(all[2].seconds == 1);
}

TEST_CASE("one finalist is kept however few are asked for") {
  finalists list(0);
  CHECK(list.most() == 1);
  list.add({"a", {}, 1});
  CHECK(list.size() == 1);
  list.add({"b", {}, 2});
  CHECK(list.beside({nullptr, 3, "default"})[1].trace == "a");
}

TEST_CASE("the fastest that takes the workload's own arguments stays among them") {
  const argument_form form;
  finalists list(2);
  CHECK(list.own_seconds() > 1e9);
  list.add({"own", {}, 5});
  CHECK(list.own_seconds() == 5);
  list.add({"b", {}, 3, &form});
  list.add({"c", {}, 2, &form});
  list.add({"slower own", {}, 6});
  const std::vector<contestant> all = list.beside({nullptr, 9, "default"});
  REQUIRE(all.size() == 3);
  CHECK(all[1].trace == "own");
  CHECK(all[2].trace == "c");
  list.add({"faster own", {}, 1});
  CHECK(list.own_seconds() == 1);
  CHECK(list.size() == 2);
}
