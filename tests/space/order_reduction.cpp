#include <tilewright/space/modules/order_reduction.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/parse.hpp>

#include "../schedule/check_schedule.hpp"

using namespace tilewright;

namespace {

/// C = the sum of A over two loops in the given order.
ir::function sum(const std::string& loops, const std::string& iters, const std::string& strides) {
  return ir::parse(
      "@T.prim_func\n"
      "def main(a: T.handle, C: T.Buffer((3,), \"int32\")):\n"
      "    A = T.match_buffer(a, (3, 5, 7), \"int32\", strides=" +
      strides + ")\n    for i, " + loops +
      ":\n"
      "        with T.block(\"C\"):\n"
      "            vi, " +
      iters +
      "\n"
      "            with T.init():\n"
      "                C[vi] = 0\n"
      "            C[vi] = C[vi] + A[vi, vk, vl]\n");
}

std::vector<std::string> loop_names(schedule& s) {
  std::vector<std::string> out;
  for (const loop_rv l : s.get_loops(s.get_block("C"))) out.push_back(s.get(l).var->name);
  return out;
}

}  // namespace

TEST_CASE("order_reduction: the loop along memory goes innermost") {
  const std::string iters = "vk, vl = T.axis.remap(\"SRR\", [i, k, l])";
  schedule rows(sum("k, l in T.grid(3, 5, 7)", iters, "[35, 7, 1]"));
  space::order_reduction(rows, "C");
  CHECK(loop_names(rows) == std::vector<std::string>{"i", "k", "l"});
  CHECK(rows.trace().print().find("reorder") == std::string::npos);

  const ir::function f = sum("k, l in T.grid(3, 5, 7)", iters, "[1, 3, 15]");
  schedule columns(f);
  space::order_reduction(columns, "C");
  CHECK(loop_names(columns) == std::vector<std::string>{"i", "l", "k"});
  CHECK_NOTHROW(ir::verify(columns.function()));
}

TEST_CASE("order_reduction leaves blocks alone that are not bound one to one") {
  const ir::function f =
      sum("k, l in T.grid(3, 5, 7)", "vk, vl = T.axis.remap(\"SRR\", [i, k, l])", "[1, 3, 15]");
  schedule s(f);
  s.split(s.get_loops(s.get_block("C"))[1], {infer, 2});
  const std::vector<std::string> before = loop_names(s);
  space::order_reduction(s, "C");
  CHECK(loop_names(s) == before);
}
