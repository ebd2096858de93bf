#include <tilewright/pass/name_bounds.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>

using namespace tilewright;

namespace {

const std::string head =
    "# from tvm.script import tir as T\n\n@T.prim_func\n"
    "def f(p: T.Buffer((5,), \"int32\"), q: T.Buffer((9,), \"float32\"), y: T.Buffer((4,), "
    "\"float32\")):\n";

std::string named(const std::string& body) {
  const ir::function f = pass::name_bounds(ir::parse(head + body));
  ir::verify(f);
  const std::string text = ir::print(f);
  return text.substr(text.find("):\n") + 3);
}

}  // namespace

TEST_CASE("offsets of a row are bound where its number is known") {
  CHECK(named("    for i in range(4):\n"
              "        for j in range(2):\n"
              "            for k in range(p[i + 1] - p[i]):\n"
              "                y[i] = y[i] + q[p[i] + k]\n") ==
        "    for i in range(4):\n"
        "        p_at: T.int32 = p[i]\n"
        "        p_at_1: T.int32 = p[i + 1]\n"
        "        for j, k in T.grid(2, p_at_1 - p_at):\n"
        "            y[i] = y[i] + q[p_at + k]\n");
}

TEST_CASE("a load does not leave what may not run") {
  CHECK(named("    for i in range(9):\n"
              "        if i < 4:\n"
              "            for k in range(p[i]):\n"
              "                y[i] = q[k]\n") ==
        "    for i in range(9):\n"
        "        if i < 4:\n"
        "            p_at: T.int32 = p[i]\n"
        "            for k in range(p_at):\n"
        "                y[i] = q[k]\n");
  CHECK(named("    for i in range(p[4]):\n"
              "        for k in range(p[0]):\n"
              "            y[0] = q[k]\n") ==
        "    p_at: T.int32 = p[4]\n"
        "    for i in range(p_at):\n"
        "        p_at_1: T.int32 = p[0]\n"
        "        for k in range(p_at_1):\n"
        "            y[0] = q[k]\n");
}

TEST_CASE("what the function writes stays a load") {
  const std::string text =
      "    for i in range(4):\n"
      "        p[i] = i\n"
      "        for k in range(p[i]):\n"
      "            y[i] = q[k]\n";
  CHECK(named(text) == text);
}
