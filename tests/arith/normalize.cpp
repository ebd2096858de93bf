#include <tilewright/arith/normalize.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/parse.hpp>

using namespace tilewright;

namespace {

/// B = A over `loops`, the block's variables being bound to `values` under `guard`.
ir::function copy(const std::string& loops, const std::string& value, const std::string& guard) {
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    for )" + loops +
                   R"(:
        with T.block("B"):
            v = T.axis.spatial(128, )" +
                   value + R"()
            )" + (guard.empty() ? "" : "T.where(" + guard + ")") +
                   R"(
            B[v] = A[v]
)");
}

ir::function program(const std::string& binding, const std::string& guard,
                     const std::string& index = "vi") {
  return ir::parse(
      "@T.prim_func\n"
      "def main(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):\n"
      "    for a, b in T.grid(6, 3):\n"
      "        with T.block(\"B\"):\n"
      "            vi = T.axis.spatial(16, " +
      binding +
      ")\n"
      "            T.where(" +
      guard +
      ")\n"
      "            T.reads(A[vi])\n"
      "            T.writes(B[vi])\n"
      "            B[" +
      index + "] = A[vi] + 1\n");
}

bool same(const ir::function& a, const ir::function& b) {
  return ir::equal(arith::normalize(a), arith::normalize(b));
}

}  // namespace

TEST_CASE("normalize: sums, digits and loops of one iteration") {
  const ir::function flat = copy("i, j, u in T.grid(8, 16, 1)", "i * 16 + j", "");
  CHECK(same(flat, copy("i, j, u in T.grid(8, 16, 1)", "(j + u) + i * 16", "")));
  CHECK(same(flat, copy("i, j, u in T.grid(8, 16, 1)", "(i * 32 + j * 2) // 2", "")));
  CHECK_FALSE(same(flat, copy("i, j, u in T.grid(8, 16, 1)", "i * 16 + j + u + 1 - 2", "")));
  CHECK_FALSE(same(flat, copy("i, j, u in T.grid(8, 16, 1)", "j * 8 + i", "")));
  CHECK_FALSE(same(flat, copy("i, j in T.grid(8, 16)", "i * 16 + j", "")));

  const ir::function digits = copy("f in T.grid(128)", "f // 4 % 5 + f % 4", "");
  CHECK(same(digits, copy("f in T.grid(128)", "f % 20 // 4 + f % 4", "")));
  CHECK_FALSE(same(digits, copy("f in T.grid(128)", "f % 16 // 4 + f % 4", "")));
}

TEST_CASE("normalize: guards") {
  const std::string loops = "i, j in T.grid(9, 16)";
  const ir::function guarded = copy(loops, "i * 16 + j", "i * 16 + j < 128");
  CHECK(same(guarded, copy(loops, "i * 16 + j", "i < 8")));
  CHECK(same(guarded, copy(loops, "i * 16 + j", "j + i * 16 <= 127")));
  CHECK(same(guarded, copy(loops, "i * 16 + j", "128 > i * 16 + j and i < 9")));
  CHECK(same(guarded, copy(loops, "i * 16 + j", "i < 8 and i * 32 + j * 2 < 256")));
  CHECK_FALSE(same(guarded, copy(loops, "i * 16 + j", "i * 16 + j < 127")));
  CHECK_FALSE(same(guarded, copy(loops, "i * 16 + j", "i < 8 and j < 15")));
  CHECK_FALSE(same(guarded, copy(loops, "i * 16 + j", "")));
}

TEST_CASE("normalize: regions have no order, and data indexes whole dimensions") {
  const auto gather = [](const std::string& reads) {
    return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64, 8), "float32"), I: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            v = T.axis.spatial(8, i)
            T.reads()" +
                     reads + R"()
            T.writes(B[v])
            B[v] = A[I[v], v]
)");
  };
  CHECK(same(gather("A[0:64, v], I[v]"), gather("I[v], A[I[v], v]")));
  CHECK_FALSE(same(gather("A[0:64, v], I[v]"), gather("A[0:64, 0:8], I[v]")));
}

TEST_CASE("normalize: what is not index arithmetic stays") {
  const auto sum = [](const std::string& value) {
    return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"global_symbol": "kernel"})
    for i in range(8):
        with T.block("B"):
            v = T.axis.spatial(8, i)
            B[v] = )" +
                     value + "\n");
  };
  CHECK(same(sum("A[v] + T.float32(1)"), sum("A[v] + T.float32(1)")));
  CHECK_FALSE(same(sum("A[v] + T.float32(1)"), sum("T.float32(1) + A[v]")));
  CHECK(arith::normalize(sum("A[v]")).attrs.empty());
}

TEST_CASE("normal forms do not depend on how sums and comparisons are written") {
  const ir::function f = program("a * 3 + b", "a * 3 + b < 16");
  CHECK_FALSE(ir::equal(f, program("b + a * 3", "a * 3 + b < 16")));
  CHECK(same(f, program("b + a * 3", "(a * 6 + b * 2) // 2 < 16")));
  CHECK(same(f, program("a * 3 + b", "16 > b + 3 * a")));
  CHECK(same(f, program("(a * 6 + b * 2) // 2", "a * 3 + b <= 15", "(vi * 2 + 1) // 2")));
  CHECK(same(program("a * 3 + b", "a < 5 and b < 2"), program("a * 3 + b", "b < 2 and a < 5")));
}

TEST_CASE("a bound beside a bound of a remainder takes its smallest form") {
  const auto guarded = [](const std::string& guard) {
    return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32")):
    for i in range(64):
        with T.block("A"):
            vi = T.axis.spatial(8, i // 8)
            vj = T.axis.spatial(8, i % 8)
            T.where()" +
                     guard +
                     R"()
            A[vi, vj] = T.float32(1)
)");
  };
  CHECK(same(guarded("i % 8 < 7 and i < 56"), guarded("i < 55 and i % 8 < 7")));
  CHECK_FALSE(same(guarded("i % 8 < 7 and i < 57"), guarded("i < 55 and i % 8 < 7")));
  CHECK_FALSE(same(guarded("i % 8 < 7 and i < 54"), guarded("i < 55 and i % 8 < 7")));
}

TEST_CASE("normal forms of different programs differ") {
  const ir::function f = program("a * 3 + b", "a * 3 + b < 16");
  CHECK_FALSE(same(f, program("a * 3 + b", "a * 3 + b < 15")));
  CHECK_FALSE(same(f, program("a + b * 6", "a * 3 + b < 16")));
  CHECK_FALSE(same(f, program("a * 3 + b", "a * 3 + b < 16", "15 - vi")));
}
