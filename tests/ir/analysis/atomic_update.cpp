#include <tilewright/ir/analysis/atomic_update.hpp>

#include <doctest/doctest.h>
#include <string>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// The block "B" of a function of A and B, 8 floats or integers each.
block block_of(const std::string& body, const std::string& type = "float32") {
  const function f = parse(
      "@T.prim_func\ndef main(A: T.Buffer((8,), \"" + type + "\"), B: T.Buffer((8,), \"" + type +
      "\")):\n    for i in range(8):\n        with T.block(\"B\"):\n            "
      "v = T.axis.reduce(8, i)\n" +
      body);
  block out;
  for_each_stmt(f.body, [&](const stmt& s) {
    if (as_realize(s) && as_realize(s)->block->name == "B") out = as_realize(s)->block;
  });
  return out;
}

const std::string note = "            T.block_attr({\"tilewright.atomic\": 1})\n";

bool adds(const std::string& body, const std::string& type = "float32") {
  return adds_atomically(*block_of(note + body, type));
}

}  // namespace

TEST_CASE("an addition is a store that adds to the element that it finds") {
  CHECK(adds("            B[0] = B[0] + A[v]\n"));
  CHECK(adds("            B[0] = A[v] * A[v] + B[0]\n"));
  CHECK(adds("            B[0] = B[0] - A[v]\n"));
  CHECK(
      adds("            if A[v] > T.float32(0):\n                B[v // 2] = B[v // 2] + A[v]\n"));
  CHECK_FALSE(adds("            B[0] = A[v]\n"));
  CHECK_FALSE(adds("            B[0] = B[1] + A[v]\n"));
  CHECK_FALSE(adds("            B[0] = B[0] + B[1]\n"));
  CHECK_FALSE(adds("            B[0] = A[v] - B[0]\n"));
  CHECK_FALSE(adds("            B[0] = T.max(B[0], A[v])\n"));
  CHECK_FALSE(
      adds("            B[0] = B[0] + A[v] + A[0]\n"));  // floats are not put in another order
  CHECK(adds("            B[0] = B[0] + A[v] + A[0]\n", "int32"));
  CHECK(adds("            B[0] = A[v] + (B[0] - A[0])\n", "int64"));
}

TEST_CASE("an addition needs the note, and a type that memory adds") {
  CHECK_FALSE(adds_atomically(*block_of("            B[0] = B[0] + A[v]\n")));
  CHECK_FALSE(adds("            B[0] = B[0] + A[v]\n", "int8"));
  for (const char* type : {"float16", "float64", "int32", "int64", "uint32", "uint64"})
    CHECK(adds("            B[0] = B[0] + A[v]\n", type));
}

TEST_CASE("what an addition adds") {
  const block b = block_of(note + "            B[0] = B[0] - A[v]\n", "int32");
  const store_node* store = only_addition(b->body);
  REQUIRE(store);
  CHECK(print(addend(*store)).find("A[v]") != std::string::npos);
}

TEST_CASE("a note beside an init is no well-formed block") {
  const function f = parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((1,), "float32")):
    for i in range(8):
        with T.block("B"):
            v = T.axis.reduce(8, i)
            T.block_attr({"tilewright.atomic": 1})
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + A[v]
)");
  CHECK_THROWS_WITH_AS(verify(f), doctest::Contains("adds atomically, and has an init"),
                       verify_error);
}
