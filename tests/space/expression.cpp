#include <tilewright/space/steps.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/target/cpu.hpp>

#include "programs.hpp"
#include "trace_text.hpp"

using namespace tilewright;
using namespace tilewright::space;
using axes::i, axes::j, axes::k;
using traces::mentions;

namespace {

std::vector<schedule> sketches_of(const design_space& s) {
  static const target::cpu cpu = target::named("haswell");
  const context where{&cpu, 1};
  return s.sketches(programs::matmul(50, 64, 32), where, 7);
}

}  // namespace

TEST_CASE("a sequence applies its steps in order") {
  const std::vector<schedule> sketches =
      sketches_of(on<"C">(tile<i, 2> >> tile<j, 2> >> reorder<i[0], j[0], k[0], i[1], j[1]> >>
                          unroll<i[1]> >> vectorize<j[1]>));
  REQUIRE(sketches.size() == 1);
  ir::verify(sketches[0].function());
  CHECK(mentions(sketches[0], "reorder"));
  CHECK(mentions(sketches[0], "vectorize"));
}

TEST_CASE("a choice yields one sketch an alternative, as often as its weight says") {
  const auto a = on<"C">(vectorize<j[0]>);
  const auto b = on<"C">(unroll<k[0]>);
  const std::vector<schedule> equal = sketches_of(a | b);
  REQUIRE(equal.size() == 2);
  CHECK(mentions(equal[0], "vectorize"));
  CHECK(mentions(equal[1], "unroll"));
  const std::vector<schedule> four = sketches_of(weighted(3, a) | b);
  REQUIRE(four.size() == 4);
  CHECK(mentions(four[2], "vectorize"));
  CHECK(mentions(four[3], "unroll"));
  CHECK(sketches_of(a | b | on<"C">(parallel<i[0]>)).size() == 3);
}

TEST_CASE("a structure gives every loop its levels from outside inwards") {
  const std::vector<schedule> sketches = sketches_of(on<"C">(tile<"SSRSRS">));
  REQUIRE(sketches.size() == 1);
  ir::verify(sketches[0].function());
  schedule s = sketches[0];
  const std::vector<loop_rv> loops = s.get_loops(s.get_block("C"));
  REQUIRE(loops.size() == 4 + 4 + 2);
  CHECK(s.get(loops[4]).var->name == "k_0");
  CHECK(s.get(loops[7]).var->name == "k_1");
}

TEST_CASE("random sizes, conditions and functions are steps") {
  const auto many_rows = [](const schedule& s) { return s.function().params.size() == 3; };
  const std::vector<schedule> sketches =
      sketches_of(on<"C">(tile<i, 2>(choose({5}, {1.0})) >> when(many_rows, unroll<i[1]>)) >>
                  module([](schedule& s) { s.annotate(s.get_block("C"), "seen", 1); }));
  REQUIRE(sketches.size() == 1);
  CHECK(mentions(sketches[0], "unroll"));
  CHECK(mentions(sketches[0], "seen"));
  schedule s = sketches[0];
  CHECK(ir::is_int(s.get(s.get_loops(s.get_block("C"))[1]).extent, 5));
}

TEST_CASE("mistakes are refused with the names at hand") {
  CHECK_THROWS_WITH_AS(
      sketches_of(on<"C">(vectorize<axes::z[0]>)),
      "space: block C has no loop of axis z; its loops are i, j, k (requirement 1)",
      schedule_error);
  CHECK_THROWS_AS(sketches_of(on<"C">(vectorize<j[1]>)), schedule_error);
  CHECK_THROWS_AS(choose({}), argument_error);
  CHECK_THROWS_AS(choose({4, 0}), argument_error);
  CHECK_THROWS_AS(choose({4, 8}, {1.0}), argument_error);
  CHECK_THROWS_AS(weighted(0, vectorize<j[0]>), argument_error);
}
