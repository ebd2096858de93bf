#include <tilewright/pass/vector/vectorize_unmarked.hpp>

#include <tilewright/ir/external.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
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
  CHECK(vectors(product("ijk", "range", 3)) == 0);
}

TEST_CASE("lanes shorter than a vector are taken where there are no more, from 16 bytes on") {
  for (const int columns : {4, 5, 7}) {
    CAPTURE(columns);
    const function f = product("ijk", "range", columns);
    CHECK(vectors(f) == 1);
    check_same(f, pass::vectorize_unmarked(f, machine()), 1e-6);
    check_same(f, pass::lower(f, machine()), 1e-5);
  }
}

namespace {

/// A product of 9 x 16 whose columns are j = j0 * (16 / outer) + j1, with the loops in some order and
/// loops of one iteration inside.
function tiled_product(const std::string& order, int outer, const std::string& inner_kind,
                       const std::string& guard = "") {
  const std::string inner = std::to_string(16 / outer);
  std::string text =
      "@T.prim_func\ndef main(A: T.Buffer((9, 11), \"float32\"), B: T.Buffer((11, 16), "
      "\"float32\"), C: T.Buffer((9, 16), \"float32\")):\n";
  std::string indent = "    ";
  const auto open = [&](const std::string& var, const std::string& extent,
                        const std::string& kind) {
    text += indent + "for " + var + " in " + kind + "(" + extent + "):\n";
    indent += "    ";
  };
  for (const char axis : order) {
    if (axis == 'i') open("i", "9", "range");
    if (axis == 'k') open("k", "11", "range");
    if (axis == 'J') open("j0", std::to_string(outer), "range");
    if (axis == 'j') open("j1", inner, inner_kind);
    if (axis == 'u') open("u", "1", "range");
  }
  const std::string u = order.find('u') == std::string::npos ? "" : " + u";
  return parse(text + indent + "with T.block(\"C\"):\n" + indent +
               "    vi = T.axis.spatial(9, i)\n" + indent + "    vj = T.axis.spatial(16, j0 * " +
               inner + " + j1" + u + ")\n" + indent + "    vk = T.axis.reduce(11, k)\n" +
               (guard.empty() ? "" : indent + "    T.where(" + guard + ")\n") + indent +
               "    with T.init():\n" + indent + "        C[vi, vj] = T.float32(0)\n" + indent +
               "    C[vi, vj] = C[vi, vj] + A[vi, vj // 16 + vk] * B[vk, vj]\n");
}

/// Lanes of the one vectorized loop; 0 where there is none.
std::int64_t lanes_made(const function& f) {
  std::int64_t out = 0;
  for_each_stmt(pass::vectorize_unmarked(f, machine()).body, [&](const stmt& s) {
    const loop_node* l = as_loop(s);
    if (l && l->loop == loop_kind::vectorized) out = pass::constant_extent(*l);
  });
  return out;
}

void check_lanes(const function& f, std::int64_t lanes) {
  CAPTURE(ir::print(f));
  CHECK(lanes_made(f) == lanes);
  check_same(f, pass::vectorize_unmarked(f, machine()), 1e-6);
  check_same(f, pass::lower(f, machine()), 1e-5);
}

}  // namespace

TEST_CASE("loops of one iteration inside of lanes change nothing") {
  check_lanes(tiled_product("iJjku", 1, "range"), 16);
  check_lanes(tiled_product("iJkju", 1, "range"), 16);
  check_lanes(tiled_product("iJkuj", 1, "range"), 16);
}

TEST_CASE("two loops along one row become the lanes of a vector, wherever they stand") {
  for (const char* kind : {"range", "T.vectorized"}) {
    for (const char* order : {"iJkj", "Jikj", "kJij"}) {
      CAPTURE(std::string(order));
      check_lanes(tiled_product(order, 8, kind), 16);
      check_lanes(tiled_product(order, 4, kind), 16);
    }
    // nine rows of two vectors are more sums than there are registers
    check_lanes(tiled_product("Jkij", 4, kind), 8);
  }
  check_lanes(tiled_product("iJjk", 4, "range"), 16);
}

TEST_CASE("marked lanes stay where they fill vectors, or a guard tells them apart") {
  check_lanes(tiled_product("iJkj", 2, "T.vectorized"), 8);
  check_lanes(tiled_product("iJkj", 8, "T.vectorized", "j0 * 2 + j1 < 11"), 2);
}

TEST_CASE("operands lie at most eight elements apart, and what is written is not read elsewhere") {
  CHECK(vectors(elementwise("X[vi, vj]")) == 1);
  CHECK(vectors(elementwise("X[vi, vj * 4] + T.exp(X[vi, vj * 2 + 1])")) == 1);
  CHECK(vectors(elementwise("X[vi, vj * 8]")) == 1);
  CHECK(vectors(elementwise("X[vi, vj * 9]")) == 0);
  CHECK(vectors(elementwise("X[vi, 39 - vj]")) == 0);
  CHECK(vectors(elementwise("X[vj, vi]")) == 0);
  CHECK(vectors(elementwise("X[vi, vj // 2]")) == 0);
  CHECK(vectors(elementwise("X[vi, vj] + Y[vi, vj]")) == 1);
  CHECK(vectors(elementwise("X[vi, vj] + Y[vi, 39 - vj]")) == 0);
}

TEST_CASE(
    "windows in steps of eight are left to sums along the window, points of six numbers are "
    "lanes") {
  const auto sums = [](int taps) {
    return parse(
        "@T.prim_func\ndef main(X: T.Buffer((1000,), \"float32\"), Y: T.Buffer((100,), "
        "\"float32\")):\n"
        "    for i, k in T.grid(100, " +
        std::to_string(taps) +
        "):\n"
        "        with T.block(\"Y\"):\n"
        "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
        "            with T.init():\n"
        "                Y[vi] = T.float32(0)\n"
        "            Y[vi] = Y[vi] + X[vi * 8 + vk]\n");
  };
  for (const int taps : {6, 64}) {
    CHECK(vectors(sums(taps)) == (taps == 6));
    check_same(sums(taps), pass::lower(sums(taps), machine()), 1e-5);
  }
}

TEST_CASE("operations on the bits of integers are vectorized") {
  const function f = parse(R"(
@T.prim_func
def main(X: T.Buffer((8, 40), "uint8"), Y: T.Buffer((8, 40), "float32")):
    for i, j in T.grid(8, 40):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = T.cast(T.bitwise_and(X[vi, vj], T.uint8(15)), "float32") * T.cast(T.shift_right(X[vi, vj], T.uint8(4)), "float32")
)");
  CHECK(vectors(f) == 1);
  check_same(f, pass::lower(f, machine()));
}

float half(float x) { return x / 2; }

TEST_CASE("functions of the program take one value at a time") {
  add_external("test_half", &half);
  CHECK(vectors(elementwise("T.call_extern(\"float32\", \"test_half\", X[vi, vj])")) == 0);
  remove_external("test_half");
}

TEST_CASE("quotients of lanes are decided by the domain, or keep lanes within a group") {
  const auto lanes_of = [](const std::string& value) {
    std::int64_t out = 0;
    const function f = parse(R"(
@T.prim_func
def main(X: T.Buffer((40, 128), "float32"), Y: T.Buffer((40, 128), "float32")):
    for i, j in T.grid(40, 128):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = )" + value +
                             "\n");
    for_each_stmt(pass::vectorize_unmarked(f, machine()).body, [&](const stmt& s) {
      const loop_node* l = as_loop(s);
      if (l && l->loop == loop_kind::vectorized) out = pass::constant_extent(*l);
    });
    check_same(f, pass::lower(f, machine()), 1e-6);
    return out;
  };
  CHECK(lanes_of("X[vi, vj // 128]") == 32);
  CHECK(lanes_of("X[vi, vj // 32 * 16]") == 32);
  CHECK(lanes_of("X[vi, vj // 16 * 3 + 1]") == 16);
  CHECK(lanes_of("X[vi, vj // 8] + X[vi, vj % 8]") == 8);
  CHECK(lanes_of("X[vi, vj // 4]") == 4);
  CHECK(lanes_of("X[vi, vj // 2]") == 0);
}

TEST_CASE("what stays scalar is told with the reason") {
  const auto remarks = [](const function& f) { return pass::scalar_blocks(f, machine()); };
  CHECK(remarks(product("ijk")).empty());
  CHECK(remarks(elementwise("X[vi, vj]")).empty());
  CHECK(remarks(elementwise("X[vi, vj * 9]")).empty());  // runs too seldom to matter
  const function often = parse(R"(
@T.prim_func
def main(X: T.Buffer((400, 800), "float32"), Y: T.Buffer((400, 80), "float32")):
    for i, j in T.grid(400, 80):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj * 9]
)");
  CHECK(remarks(often) ==
        std::vector<std::string>{
            "block Y is not vectorized: X is read every 9 elements along loop j"});
  const function dot = parse(R"(
@T.prim_func
def main(X: T.Buffer((40000, 2), "float32"), Y: T.Buffer((40000,), "float32"), s: T.Buffer((), "float32")):
    for k in range(40000):
        with T.block("s"):
            vk = T.axis.remap("R", [k])
            with T.init():
                s[()] = T.float32(0)
            s[()] = s[()] + X[vk, 1] * Y[vk]
)");
  CHECK(remarks(dot).empty());  // sums of one result get lanes of partial ones
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
