#include <tilewright/ir/alternatives.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/error.hpp>

#include "doubled.hpp"

using namespace tilewright;
using programs::doubled, programs::doubled_both_ways;

TEST_CASE("alternatives come back as they were put in") {
  const std::vector<ir::function> all = ir::alternatives(doubled_both_ways());
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "twice");
  CHECK(all[1].name == "by_sum");
  CHECK_FALSE(ir::has_alternatives(all[0]));
  CHECK(ir::equal(all[1], doubled("by_sum", "A[vi] + A[vi]")));
  const ir::function three =
      ir::with_alternatives(doubled_both_ways(), {doubled("third", "A[vi] - -A[vi]")});
  CHECK(ir::alternatives(three).size() == 3);
}

TEST_CASE("they are no part of what the function computes, and survive its text") {
  const ir::function alone = doubled("twice", "A[vi] * T.float32(2)");
  CHECK(ir::workload_key(doubled_both_ways()) == ir::workload_key(alone));
  CHECK(ir::equal(doubled_both_ways(), alone));
  const ir::function read = ir::parse(ir::print(doubled_both_ways()));
  CHECK(ir::equal(ir::alternatives(read).at(1), ir::alternatives(doubled_both_ways()).at(1)));
  CHECK(ir::print(read) == ir::print(doubled_both_ways()));
}

TEST_CASE("a change is made to all") {
  const ir::function marked = ir::map_alternatives(doubled_both_ways(), [](ir::function f) {
    f.attrs["seen"] = 1;
    return f;
  });
  for (const ir::function& f : ir::alternatives(marked)) CHECK(f.attrs.count("seen") == 1);
}

TEST_CASE("what differs in name or parameters is refused") {
  const ir::function first = doubled("twice", "A[vi] * T.float32(2)");
  CHECK_THROWS_WITH_AS(ir::with_alternatives(first, {first}),
                       "alternatives: twice and twice share a name; give each algorithm its own "
                       "(requirement 1)",
                       argument_error);
  CHECK_THROWS_WITH_AS(
      ir::with_alternatives(first, {doubled("longer", "A[vi] + A[vi]", "float32", 17)}),
      "alternatives: twice and longer differ in parameter 0: float32 x 16 and float32 x 17 "
      "(requirement 2)",
      argument_error);
  CHECK_THROWS_AS(ir::with_alternatives(first, {doubled("wide", "A[vi] + A[vi]", "float64")}),
                  argument_error);
}
