#include <tilewright/space/modules/ragged_reduction.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

using namespace tilewright;

namespace {

const char* const product =
    "@T.prim_func\n"
    "def spmm(p: T.Buffer((65,), \"int32\"), q: T.Buffer((500,), \"int32\"), A: T.Buffer((500,), "
    "\"float32\"), B: T.Buffer((48, 32), \"float32\"), C: T.Buffer((64, 32), \"float32\")):\n"
    "    for i in range(64):\n"
    "        with T.block(\"C_o\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            for k in range(T.max(p[vi + 1] - p[vi], 1)):\n"
    "                for j in range(32):\n"
    "                    with T.block(\"C\"):\n"
    "                        vk = T.axis.reduce(T.max(p[vi + 1] - p[vi], 1), k)\n"
    "                        vj = T.axis.spatial(32, j)\n"
    "                        with T.init():\n"
    "                            C[vi, vj] = T.float32(0)\n"
    "                        C[vi, vj] = C[vi, vj] + T.if_then_else(vk < p[vi + 1] - p[vi], "
    "A[p[vi] + vk] * B[q[p[vi] + vk], vj], T.float32(0))\n";

const char* const product_with_vector =
    "@T.prim_func\n"
    "def spmv(p: T.Buffer((65,), \"int32\"), q: T.Buffer((500,), \"int32\"), A: T.Buffer((500,), "
    "\"float32\"), X: T.Buffer((48,), \"float32\"), Y: T.Buffer((64,), \"float32\")):\n"
    "    for i in range(64):\n"
    "        with T.block(\"Y_o\"):\n"
    "            vi = T.axis.spatial(64, i)\n"
    "            for k in range(T.max(p[vi + 1] - p[vi], 1)):\n"
    "                with T.block(\"Y\"):\n"
    "                    vk = T.axis.reduce(T.max(p[vi + 1] - p[vi], 1), k)\n"
    "                    with T.init():\n"
    "                        Y[vi] = T.float32(0)\n"
    "                    Y[vi] = Y[vi] + T.if_then_else(vk < p[vi + 1] - p[vi], "
    "A[p[vi] + vk] * X[q[p[vi] + vk]], T.float32(0))\n";

target::cpu machine() {
  target::cpu out;
  out.vector_bits = 256;
  out.vector_registers = 16;
  return out;
}

}  // namespace

TEST_CASE("a row is walked once for each tile of columns, several rows a task") {
  const target::cpu cpu = machine();
  schedule s(ir::parse(product), 1);
  REQUIRE(space::is_ragged_reduction(s, "C_o"));
  space::chooser choices;
  space::ragged_reduction(s, "C_o", {&cpu, 2}, choices);
  const std::string text = s.show();
  CHECK(text.find("for i_0 in T.parallel(2):\n        for i_1 in range(32):\n            with "
                  "T.block(\"C_o\"):") != std::string::npos);
  CHECK(text.find("for j_1 in T.vectorized(32):") != std::string::npos);
  CHECK(text.find("\"tilewright.prefetch\": 0") != std::string::npos);
  CHECK(s.trace().print().find("sample_categorical(candidates=[8, 16, 32]") != std::string::npos);
}

TEST_CASE("a row that meets a vector adds up in a drawn number of partial sums") {
  const target::cpu cpu = machine();
  schedule s(ir::parse(product_with_vector), 1);
  REQUIRE(space::is_ragged_reduction(s, "Y_o"));
  space::chooser choices;
  space::ragged_reduction(s, "Y_o", {&cpu, 1}, choices);
  CHECK(s.show().find("\"tilewright.reduction_lanes\": ") != std::string::npos);
  CHECK(s.trace().print().find("sample_categorical(candidates=[0, 4, 8, 16]") != std::string::npos);
}

TEST_CASE("the default space offers it, and leaves other blocks to the other rules") {
  const target::cpu cpu = machine();
  const std::vector<schedule> sketches =
      space::default_cpu().sketches(ir::parse(product), {&cpu, 1}, 1);
  REQUIRE_FALSE(sketches.empty());
  CHECK(sketches.front().show().find("T.vectorized(32)") != std::string::npos);
  const schedule dense(
      ir::parse("@T.prim_func\ndef f(x: T.Buffer((8, 8), \"float32\"), y: T.Buffer((8,), "
                "\"float32\")):\n    for i, j in T.grid(8, 8):\n        with T.block(\"y\"):\n"
                "            vi, vj = T.axis.remap(\"SR\", [i, j])\n            with T.init():\n"
                "                y[vi] = T.float32(0)\n            y[vi] = y[vi] + x[vi, vj]\n"),
      1);
  CHECK_FALSE(space::is_ragged_reduction(dense, "y"));
}

TEST_CASE("rows may be shared out by their elements instead of a number at a time") {
  const target::cpu cpu = machine();
  for (const char* text : {product, product_with_vector}) {
    space::chooser choices;
    int balanced = 0, counted = 0;
    do {
      schedule s(ir::parse(text), 1);
      space::ragged_reduction(s, text == product ? "C_o" : "Y_o", {&cpu, 2}, choices);
      const std::string shown = s.show();
      balanced += shown.find("T.parallel(64, annotations={\"tilewright.balance\": \"p\"})") !=
                  std::string::npos;
      counted += shown.find("i_0 in T.parallel(") != std::string::npos;
    } while (choices.advance(true));
    CHECK(balanced == 1);
    CHECK(counted == 1);
  }
}
