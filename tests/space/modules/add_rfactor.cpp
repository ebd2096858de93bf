#include <tilewright/space/modules/add_rfactor.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/target/cpu.hpp>

#include "../../schedule/check_schedule.hpp"
#include "../trace_text.hpp"

using namespace tilewright;

namespace {

/// The sum of the squares of a matrix.
ir::function sum_of_squares(int rows, int columns) {
  return ir::parse(
      "@T.prim_func\n"
      "def main(A: T.Buffer((" +
      std::to_string(rows) + ", " + std::to_string(columns) +
      "), \"int32\"), C: T.Buffer((1,), \"int32\")):\n"
      "    for i, k, l in T.grid(1, " +
      std::to_string(rows) + ", " + std::to_string(columns) +
      "):\n"
      "        with T.block(\"C\"):\n"
      "            vi, vk, vl = T.axis.remap(\"SRR\", [i, k, l])\n"
      "            with T.init():\n"
      "                C[vi] = 0\n"
      "            C[vi] = C[vi] + A[vk, vl] * A[vk, vl]\n");
}

const target::cpu& machine() {
  static const target::cpu cpu = target::named("haswell");
  return cpu;
}

}  // namespace

TEST_CASE("add_rfactor asks for long reductions and idle threads") {
  const schedule s(sum_of_squares(128, 256));
  CHECK(space::needs_rfactor(s, "C", {&machine(), 2}));
  CHECK_FALSE(space::needs_rfactor(s, "C", {&machine(), 1}));
  CHECK_FALSE(space::needs_rfactor(schedule(sum_of_squares(16, 16)), "C", {&machine(), 2}));
}

TEST_CASE("add_rfactor: partial results in parallel, also where the parts do not divide") {
  const ir::function f = sum_of_squares(127, 131);
  const space::context where{&machine(), 4};
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, where, 1);
  REQUIRE(sketches.size() >= 2);
  CHECK(space::has_block(sketches.front(), "C_rf"));
  CHECK_FALSE(space::has_block(sketches.back(), "C_rf"));
  CHECK(traces::mentions(sketches.front(), "sch.parallel("));
  for (const schedule& s : sketches) check_meaning(s, f);

  const trace family = sketches.front().trace().without_decisions();
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    schedule s(f, seed);
    family.apply_to(s);
    check_meaning(s, f);
  }
}
