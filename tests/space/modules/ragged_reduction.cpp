#include <tilewright/space/modules/ragged_reduction.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/pattern_note.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/target/cpu.hpp>

#include "../trace_text.hpp"

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
  CHECK(traces::mentions(s, "sample_categorical(candidates=[8, 16, 32]"));
}

TEST_CASE("a row that meets a vector adds up in a drawn number of partial sums") {
  const target::cpu cpu = machine();
  schedule s(ir::parse(product_with_vector), 1);
  REQUIRE(space::is_ragged_reduction(s, "Y_o"));
  space::chooser choices;
  space::ragged_reduction(s, "Y_o", {&cpu, 1}, choices);
  CHECK(s.show().find("\"tilewright.reduction_lanes\": ") != std::string::npos);
  CHECK(traces::mentions(s, "sample_categorical(candidates=[0, 4, 8, 16]"));
}

TEST_CASE(
    "vectors come first where rows are as long, and for long rows alone where only a few are") {
  const target::cpu cpu = machine();
  struct expectation {
    ir::pattern_note rows;
    const char *lanes, *least;
  };
  const auto pattern = [](double mean, double spread, double longest) {
    ir::pattern_note out;
    out.mean_row = mean;
    out.spread = spread;
    out.longest = longest;
    return out;
  };
  for (const expectation& e :
       {expectation{pattern(5, 0.3, 2), "0", "0"}, expectation{pattern(25, 0.1, 1.2), "8", "0"},
        expectation{pattern(3, 40, 4000), "8", "8"}, expectation{pattern(4000, 2, 9), "8", "8"}}) {
    ir::function f = ir::parse(product_with_vector);
    ir::note_pattern(f, e.rows);
    schedule s(f, 1);
    space::chooser choices;
    space::ragged_reduction(s, "Y_o", {&cpu, 1}, choices);
    const std::string text = s.show();
    CAPTURE(text);
    CHECK(text.find("\"tilewright.reduction_lanes\": " + std::string(e.lanes)) !=
          std::string::npos);
    CHECK(text.find("\"tilewright.long_rows\": " + std::string(e.least)) != std::string::npos);
  }
}

namespace {

/// Whether rows of this mean length begin with a plain walk; 0: nothing is known of them.
bool walks_plainly(const char* program, const std::string& rows, double mean) {
  const target::cpu cpu = machine();
  ir::function f = ir::parse(program);
  if (mean > 0) ir::note_pattern(f, {.mean_row = mean});
  schedule s(f, 1);
  space::chooser choices;
  space::ragged_reduction(s, rows, {&cpu, 1}, choices);
  return s.show().find("\"tilewright.edge\": 1") != std::string::npos;
}

}  // namespace

TEST_CASE(
    "the walk of short rows is not written out where elements are added one after the other") {
  for (const double mean : {0.0, 1.0, 7.0, 8.0, 40.0}) {
    CAPTURE(mean);
    CHECK(walks_plainly(product_with_vector, "Y_o", mean) == (mean > 0 && mean < 8));
  }
}

TEST_CASE("a tile of columns begins with a plain walk where rows are short") {
  for (const double mean : {0.0, 9.0, 15.0, 16.0, 57.0}) {
    CAPTURE(mean);
    CHECK(walks_plainly(product, "C_o", mean) == (mean > 0 && mean < 16));
  }
}

TEST_CASE("the only row is divided among threads") {
  const target::cpu cpu = machine();
  std::string one_row = product_with_vector;
  for (const auto& [from, to] : {std::pair{"(65,)", "(2,)"},
                                 {"(64,)", "(1,)"},
                                 {"range(64)", "range(1)"},
                                 {"spatial(64", "spatial(1"}}) {
    const auto at = one_row.find(from);
    REQUIRE(at != std::string::npos);
    one_row.replace(at, std::string(from).size(), to);
  }
  for (const int threads : {1, 2}) {
    schedule s(ir::parse(one_row), 1);
    space::chooser choices;
    space::ragged_reduction(s, "Y_o", {&cpu, threads}, choices);
    CHECK((s.show().find("\"tilewright.tasks\": 2") != std::string::npos) == (threads == 2));
  }
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

TEST_CASE("rows are divided among tasks first where one of them has more than a chunk") {
  const target::cpu cpu = machine();
  for (const char* text : {product, product_with_vector})
    for (const double longest : {8.0, 9.0}) {  // over the mean; 64 rows are eight chunks of 8
      ir::function f = ir::parse(text);
      ir::note_pattern(f, {.mean_row = 7, .longest = longest});
      space::chooser choices;
      std::vector<bool> divided;
      do {
        schedule s(f, 1);
        space::ragged_reduction(s, text == product ? "C_o" : "Y_o", {&cpu, 2}, choices);
        divided.push_back(s.show().find("\"tilewright.balance\": \"p\", \"tilewright.tasks\": 8") !=
                          std::string::npos);
      } while (choices.advance(true));
      CHECK(divided == (longest > 8 ? std::vector<bool>{true, false, false}
                                    : std::vector<bool>{false, false}));
    }
}

namespace {

/// The product with rows as many and as wide as that; each element of the other operand is read `rows` / 48 times.
std::string product_of(int rows, int wide) {
  std::string out = product;
  const auto replace = [&](const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos; at += by.size())
      out.replace(at, what.size(), by);
  };
  replace("65", std::to_string(rows + 1));
  replace("64", std::to_string(rows));
  replace("32)", std::to_string(wide) + ")");
  replace("32, j", std::to_string(wide) + ", j");
  return out;
}

/// For each sketch of the module, whether it reads the operand from a copy.
std::vector<bool> copies(const std::string& program, const std::string& block,
                         const std::string& copy) {
  target::cpu cpu = machine();
  cpu.l2_bytes = 8 * 1024;
  cpu.l3_bytes = 32 * 1024;
  space::chooser choices;
  std::vector<bool> out;
  do {
    schedule s(ir::parse(program), 1);
    space::ragged_reduction(s, block, {&cpu, 1}, choices);
    out.push_back(space::has_block(s, copy));
    if (!out.back()) continue;
    const std::vector<loop_rv> loops = s.get_loops(s.get_block(copy));
    CHECK(s.get(loops.back()).loop == ir::loop_kind::vectorized);
    CHECK(ir::is_int(s.get(loops.back()).extent, 8));
    CHECK(s.show().find(copy + "[q[p[vi] + vk], v") != std::string::npos);
  } while (choices.advance(true));
  return out;
}

}  // namespace

TEST_CASE(
    "an operand whose rows are read many times is copied to a line, first where a line less for "
    "each "
    "use is more than the copy costs") {
  using each = std::vector<bool>;
  CHECK(copies(product_of(48 * 10, 32), "C_o", "B_global") == each{true, false});
  CHECK(copies(product_of(48 * 8, 32), "C_o", "B_global") == each{false, true});
  CHECK(copies(product_of(48 * 10, 64), "C_o", "B_global") == each{false, true});
  CHECK(copies(product_of(48 * 16, 64), "C_o", "B_global") == each{true, false});
  CHECK(copies(product_of(48 * 2, 32), "C_o", "B_global") == each{false});
  CHECK(copies(product_of(48 * 40, 128), "C_o", "B_global") == each{false});
  CHECK(copies(product_of(48 * 40, 33), "C_o", "B_global") == each{false});
}

TEST_CASE("rows that are copied are those of the dense operand, not of what is summed in a row") {
  CHECK(copies(product_with_vector, "Y_o", "X_global") == std::vector<bool>{false});
}

TEST_CASE("a sampled product copies the rows that its elements choose") {
  const std::string program =
      "@T.prim_func\n"
      "def sampled(p: T.Buffer((481,), \"int32\"), q: T.Buffer((5000,), \"int32\"), X: "
      "T.Buffer((480, 16), "
      "\"float32\"), Y: T.Buffer((12, 16), \"float32\"), S: T.Buffer((5000,), \"float32\")):\n"
      "    for i in range(480):\n"
      "        with T.block(\"S_o\"):\n"
      "            vi = T.axis.spatial(480, i)\n"
      "            for j in range(T.max(p[vi + 1] - p[vi], 1)):\n"
      "                for k in range(16):\n"
      "                    with T.block(\"S\"):\n"
      "                        vj = T.axis.spatial(T.max(p[vi + 1] - p[vi], 1), j)\n"
      "                        vk = T.axis.reduce(16, k)\n"
      "                        with T.init():\n"
      "                            S[p[vi] + vj] = T.float32(0)\n"
      "                        S[p[vi] + vj] = S[p[vi] + vj] + X[vi, vk] * Y[q[p[vi] + vj], vk]\n";
  target::cpu cpu = machine();
  cpu.l2_bytes = 8 * 1024;
  space::chooser choices;
  schedule s(ir::parse(program), 1);
  space::ragged_reduction(s, "S_o", {&cpu, 1}, choices);
  CHECK(s.show().find("Y_global[q[p[vi] + vj], vk]") != std::string::npos);
  CHECK_FALSE(space::has_block(s, "X_global"));
}
