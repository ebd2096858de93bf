#include <tilewright/pass/vector/vectorize_unmarked.hpp>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const target::cpu& machine() {
  static const target::cpu cpu = target::named("haswell");
  return cpu;
}

function product(const std::string& order, const std::string& j_kind = "range", int columns = 37) {
  const std::string n = std::to_string(columns);
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((9, 11), \"float32\"), B: T.Buffer((11, " +
                     n + "), \"float32\"), C: T.Buffer((9, " + n + "), \"float32\")):\n";
  std::string indent = "    ";
  for (const char axis : order) {
    const std::string extent = axis == 'i' ? "9" : axis == 'j' ? n : "11";
    text += indent + "for " + axis + " in " + (axis == 'j' ? j_kind : std::string("range")) + "(" +
            extent + "):\n";
    indent += "    ";
  }
  return parse(text + indent + "with T.block(\"C\"):\n" + indent +
               "    vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n" + indent +
               "    with T.init():\n" + indent + "        C[vi, vj] = T.float32(0)\n" + indent +
               "    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n");
}

/// One block over X[40, 80] and Y[40, 40].
function elementwise(const std::string& value) {
  return parse(R"(
@T.prim_func
def main(X: T.Buffer((40, 400), "float32"), Y: T.Buffer((40, 40), "float32")):
    for i, j in T.grid(40, 40):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = )" +
               value + "\n");
}

int vectors(const function& f) {
  return count_loops(pass::vectorize_unmarked(f, machine()).body, loop_kind::vectorized);
}

}  // namespace

TEST_CASE("the loop along the output's rows is vectorized wherever it stands in the nest") {
  for (const char* order : {"ijk", "ikj", "jik", "kji", "jki"}) {
    CAPTURE(std::string(order));
    for (const int columns : {8, 37, 64}) {
      const function f = product(order, "range", columns);
      CHECK(vectors(f) == 1);
      check_same(f, pass::vectorize_unmarked(f, machine()), 1e-6);
      check_same(f, pass::lower(f, machine()), 1e-5);
    }
  }
}

TEST_CASE("one block's loops say nothing about another block, nor do loops written out") {
  const function f = parse(R"(
@T.prim_func
def main(X: T.Buffer((6, 24), "float32"), Y: T.Buffer((6, 24), "float32"), Z: T.Buffer((6, 21), "float32")):
    for i in range(6):
        for j in T.vectorized(24):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)
        for j in range(21):
            for k in T.unroll(3):
                with T.block("Z"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        Z[vi, vj] = T.float32(0)
                    Z[vi, vj] = Z[vi, vj] + X[vi, vj + vk]
)");
  CHECK(vectors(f) == 2);
  check_same(f, pass::vectorize_unmarked(f, machine()), 1e-6);
  check_same(f, pass::lower(f, machine()), 1e-5);
}

TEST_CASE("who has marked a loop around the block has decided, and short loops stay") {
  CHECK(vectors(product("ijk", "T.unroll")) == 0);
  CHECK(vectors(product("ijk", "T.vectorized", 8)) == 1);
  CHECK(vectors(product("ijk", "range", 7)) == 0);
}

TEST_CASE("operands lie at most four elements apart, and what is written is not read elsewhere") {
  CHECK(vectors(elementwise("X[vi, vj]")) == 1);
  CHECK(vectors(elementwise("X[vi, vj * 4] + T.exp(X[vi, vj * 2 + 1])")) == 1);
  CHECK(vectors(elementwise("X[vi, vj * 5]")) == 0);
  CHECK(vectors(elementwise("X[vi, 39 - vj]")) == 0);
  CHECK(vectors(elementwise("X[vj, vi]")) == 0);
  CHECK(vectors(elementwise("X[vi, vj // 2]")) == 0);
  CHECK(vectors(elementwise("X[vi, vj] + Y[vi, vj]")) == 1);
  CHECK(vectors(elementwise("X[vi, vj] + Y[vi, 39 - vj]")) == 0);
}

TEST_CASE("what stays scalar is told with the reason") {
  const auto remarks = [](const function& f) { return pass::scalar_blocks(f, machine()); };
  CHECK(remarks(product("ijk")).empty());
  CHECK(remarks(elementwise("X[vi, vj]")).empty());
  CHECK(remarks(elementwise("X[vi, vj * 5]")).empty());  // runs too seldom to matter
  const function often = parse(R"(
@T.prim_func
def main(X: T.Buffer((400, 400), "float32"), Y: T.Buffer((400, 80), "float32")):
    for i, j in T.grid(400, 80):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj * 5]
)");
  CHECK(remarks(often) ==
        std::vector<std::string>{
            "block Y is not vectorized: X is read every 5 elements along loop j"});
}

TEST_CASE("guards and lengths that are loaded are loaded inside of their buffers alone") {
  const auto program = [](int rows, const std::string& taps, const std::string& guard) {
    const std::string m = std::to_string(rows);
    return parse("@T.prim_func\ndef main(X: T.Buffer((" + m + ", 4), \"float32\"), N: T.Buffer((" +
                 m + ",), \"int32\"), Y: T.Buffer((" + m +
                 ",), \"float32\")):\n    for i in range(" + m + "):\n        for k in range(" +
                 taps +
                 "):\n            with T.block(\"Y\"):\n"
                 "                vi, vk = T.axis.remap(\"SR\", [i, k])\n" +
                 guard +
                 "                with T.init():\n                    Y[vi] = T.float32(0)\n"
                 "                Y[vi] = Y[vi] + X[vi, vk]\n");
  };
  const std::string loaded = "                T.where(0 < N[i])\n";
  for (const int rows : {13, 16}) {
    const function f = program(rows, "4", loaded);
    CHECK(vectors(f) == (rows == 16));
    check_same(f, pass::vectorize_unmarked(f, machine()), 1e-6);
  }
  // rows of different lengths are no lanes
  CHECK(vectors(program(16, "N[i]", "")) == 0);
}

TEST_CASE("of instances that write one element the last one stays the last") {
  const auto program = [](const std::string& place) {
    return parse(R"(
@T.prim_func
def main(X: T.Buffer((10, 3), "float32"), Y: T.Buffer((40,), "float32")):
    for i, j in T.grid(10, 3):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[)" +
                 place + R"(] = X[vi, vj]
)");
  };
  for (const char* place : {"vj * 2 + vi", "vj * 10 + vi"}) {
    CAPTURE(std::string(place));
    const function f = program(place);
    CHECK(vectors(f) == (place == std::string("vj * 10 + vi")));
    check_same(f, pass::vectorize_unmarked(f, machine()));
  }
}
