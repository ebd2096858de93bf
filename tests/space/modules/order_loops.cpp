#include <tilewright/space/modules/order_loops.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>

#include "../../schedule/check_schedule.hpp"
#include "../trace_text.hpp"

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

TEST_CASE("order_loops: the loop along memory goes innermost") {
  const std::string iters = "vk, vl = T.axis.remap(\"SRR\", [i, k, l])";
  schedule rows(sum("k, l in T.grid(3, 5, 7)", iters, "[35, 7, 1]"));
  space::order_loops(rows, "C");
  CHECK(loop_names(rows) == std::vector<std::string>{"i", "k", "l"});
  CHECK_FALSE(traces::mentions(rows, "reorder"));

  const ir::function f = sum("k, l in T.grid(3, 5, 7)", iters, "[1, 3, 15]");
  schedule columns(f);
  space::order_loops(columns, "C");
  CHECK(loop_names(columns) == std::vector<std::string>{"i", "l", "k"});
  CHECK_NOTHROW(ir::verify(columns.function()));
}

TEST_CASE("order_loops leaves blocks alone that are not bound one to one") {
  const ir::function f =
      sum("k, l in T.grid(3, 5, 7)", "vk, vl = T.axis.remap(\"SRR\", [i, k, l])", "[1, 3, 15]");
  schedule s(f);
  s.split(s.get_loops(s.get_block("C"))[1], {infer, 2});
  const std::vector<std::string> before = loop_names(s);
  space::order_loops(s, "C");
  CHECK(loop_names(s) == before);
}

TEST_CASE("order_loops: an element-wise block follows its output") {
  const auto map = [](const std::string& strides) {
    return ir::parse(
        "@T.prim_func\n"
        "def main(A: T.Buffer((5, 7), \"int32\"), c: T.handle):\n"
        "    C = T.match_buffer(c, (5, 7), \"int32\", strides=" +
        strides +
        ")\n    for i, j in T.grid(5, 7):\n"
        "        with T.block(\"C\"):\n"
        "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
        "            C[vi, vj] = A[vi, vj] + 1\n");
  };
  schedule rows(map("[7, 1]")), columns(map("[1, 5]"));
  space::order_loops(rows, "C");
  space::order_loops(columns, "C");
  CHECK(loop_names(rows) == std::vector<std::string>{"i", "j"});
  CHECK(loop_names(columns) == std::vector<std::string>{"j", "i"});
}
