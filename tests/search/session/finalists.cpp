#include <tilewright/impl/search/session/finalists.hpp>

#include <string>
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

TEST_CASE("what was known before stays among them, however slow it seems") {
  finalists list(2);
  list.add({"known", {}, 9, nullptr, true});
  for (const double seconds : {4.0, 3.0, 2.0}) list.add({std::to_string(seconds), {}, seconds});
  const std::vector<contestant> all = list.beside({nullptr, 9, "default"});
  REQUIRE(all.size() == 3);
  CHECK(all[1].trace == "known");
  CHECK(all[2].seconds == 2);
}

TEST_CASE("one finalist is kept however few are asked for") {
  finalists list(0);
  CHECK(list.most() == 1);
  list.add({"a", {}, 1});
  CHECK(list.size() == 1);
  list.add({"b", {}, 2});
  CHECK(list.beside({nullptr, 3, "default"})[1].trace == "a");
}

TEST_CASE("the fastest of each form stays among them, and makes room only for a faster one") {
  const argument_form first, second;
  finalists list(2);
  CHECK(list.seconds_of(nullptr) > 1e9);
  list.add({"own", {}, 5});
  CHECK(list.seconds_of(nullptr) == 5);
  list.add({"b", {}, 3, &first});
  list.add({"c", {}, 2, &first});
  list.add({"slower own", {}, 6});
  const std::vector<contestant> all = list.beside({nullptr, 9, "default"});
  REQUIRE(all.size() == 3);
  CHECK(all[1].trace == "own");
  CHECK(all[2].trace == "c");
  list.add({"faster own", {}, 1});
  CHECK(list.seconds_of(nullptr) == 1);
  CHECK(list.size() == 2);
  list.add({"disturbed", {}, 7, &second});
  CHECK(list.size() == 3);
  CHECK(list.seconds_of(&second) == 7);
  list.add({"as fast", {}, 7, &second});
  CHECK(list.size() == 3);
  CHECK(list.beside({nullptr, 9, "default"})[3].trace == "disturbed");
  list.leave_out([&](const argument_form* form) { return form == &first; });
  CHECK(list.size() == 2);
  CHECK(list.seconds_of(&first) > 1e9);
  CHECK(list.seconds_of(&second) == 7);
}
