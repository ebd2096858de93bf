#include <tilewright/arith/normalize.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/interpret.hpp>
#include <tilewright/ir/parse.hpp>

using namespace tilewright;

namespace {

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
  return ir::equal(arith::normalized(a), arith::normalized(b));
}

}  // namespace

TEST_CASE("normal forms do not depend on how sums and comparisons are written") {
  const ir::function f = program("a * 3 + b", "a * 3 + b < 16");
  CHECK_FALSE(ir::equal(f, program("b + a * 3", "a * 3 + b < 16")));
  CHECK(same(f, program("b + a * 3", "(a * 6 + b * 2) // 2 < 16")));
  CHECK(same(f, program("a * 3 + b", "16 > b + 3 * a")));
  CHECK(same(f, program("(a * 6 + b * 2) // 2", "a * 3 + b <= 15", "(vi * 2 + 1) // 2")));
  CHECK(same(program("a * 3 + b", "a < 5 and b < 2"), program("a * 3 + b", "b < 2 and a < 5")));
}

TEST_CASE("normal forms of different programs differ") {
  const ir::function f = program("a * 3 + b", "a * 3 + b < 16");
  CHECK_FALSE(same(f, program("a * 3 + b", "a * 3 + b < 15")));
  CHECK_FALSE(same(f, program("a + b * 6", "a * 3 + b < 16")));
  CHECK_FALSE(same(f, program("a * 3 + b", "a * 3 + b < 16", "15 - vi")));
}
