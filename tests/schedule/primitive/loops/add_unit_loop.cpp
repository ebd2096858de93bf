#include <tilewright/schedule/primitive/loops/add_unit_loop.hpp>

#include <tilewright/ir/text/parse.hpp>

#include "../../check_schedule.hpp"
#include "../../programs.hpp"

using namespace tilewright;

namespace {

ir::function scalar_sum() {
  return ir::parse(
      "@T.prim_func\n"
      "def main(A: T.Buffer((), \"int32\"), B: T.Buffer((), \"int32\"), C: T.Buffer((), "
      "\"int32\")):\n"
      "    with T.block(\"C\"):\n"
      "        vi = T.axis.spatial(1, 0)\n"
      "        C[()] = A[()] + B[()]\n");
}

}  // namespace

TEST_CASE("add_unit_loop: around a block without loops, and around a loop") {
  const ir::function f = scalar_sum();
  schedule s(f);
  const block_rv c = s.block("C");
  const loop_rv inner = s.add_unit_loop(c);
  const loop_rv outer = s.add_unit_loop(inner);
  CHECK(s.get_loops(c).size() == 2);
  CHECK(ir::is_int(s.get(outer).extent, 1));
  CHECK(s.get(outer).var->name == "u");
  CHECK(ir::as_loop(s.get(outer).body)->var.same(s.get(inner).var));
  check_meaning(s, f);
}

TEST_CASE("add_unit_loop: the new loop can be bound and its nest goes on") {
  const ir::function f = programs::matmul(4, 4, 4);
  schedule s(f);
  const block_rv c = s.block("C");
  const auto [i, j, k] = s.loops<3>(c);
  s.bind(s.add_unit_loop(j), "threadIdx.x");
  CHECK(s.get_loops(c).size() == 4);
  check_meaning(s, f);
}

TEST_CASE("add_unit_loop: not around the root block") {
  schedule s(scalar_sum());
  const block_rv root = s.block("root");
  check_refusal(s, "add_unit_loop", 1, [&] { s.add_unit_loop(root); });
}
