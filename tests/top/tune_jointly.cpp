#include <tilewright/dispatch/tune_jointly.hpp>

#include <doctest/doctest.h>

#include <string>

#include "top/product.hpp"

using namespace tilewright;
using namespace products;

namespace {

dispatch::jointly_options few(int trials) {
  dispatch::jointly_options out;
  out.seconds = 60;  // the trials end it, on a busy machine too
  out.trials = trials;
  return out;
}

}  // namespace

TEST_CASE(
    "tune jointly: calls at all extents run what was found, and others what it becomes there") {
  const folder f;
  problem small(8, 24, 16), large(96, 24, 16), unseen(40, 24, 16);
  const tuned op{product, quick(f.file(), mode::off)};
  CHECK(op.report(small.a, small.b, small.c).find("fallback") != std::string::npos);
  const auto r = tune_jointly(
      {op.at(small.a, small.b, small.c), op.at(large.a, large.b, large.c).weighted(2)}, few(12));
  REQUIRE(r.at.size() == 2);
  for (problem* p : {&small, &large}) {
    CHECK(p->right(op));
    CHECK(op.report(p->a, p->b, p->c).find("stored schedule") != std::string::npos);
  }
  const tuned later{product, quick(f.file(), mode::off)};
  CHECK(later.report(large.a, large.b, large.c).find("stored schedule, stored code") !=
        std::string::npos);
  CHECK(unseen.right(later));
}

TEST_CASE("tune jointly: extents stand for arguments, and one database is for all") {
  const tuned op{product, quick()}, other{product, quick()};
  const search::extent_map narrow{{"M", 4}, {"K", 8}, {"N", 8}},
      wide{{"M", 64}, {"K", 8}, {"N", 8}};
  const auto r = tune_jointly({op.at_extents(narrow), op.at_extents(wide)}, few(4));
  CHECK(r.at.size() == 2);
  CHECK_THROWS_WITH_AS(tune_jointly({}, few(4)), "tune_jointly: there is nothing to tune",
                       argument_error);
}
