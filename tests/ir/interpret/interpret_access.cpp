// What the race check says of additions that memory makes.
#include <doctest/doctest.h>

#include <string>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/support/error.hpp>
#include <vector>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// What is found in a loop over 8 blocks of threads, each of which does `body` with its number v.
std::string found(const std::string& body) {
  const function f = parse(
      "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
      "    for i in T.thread_binding(8, thread=\"blockIdx.x\"):\n" +
      body);
  std::vector<float> a(8, 1), b(8, 0);
  interpret_options options;
  options.check_races = true;
  try {
    interpret(f, {{a.data(), {}}, {b.data(), {}}}, options);
  } catch (const error& e) {
    return e.what();
  }
  return b[0] == 8 ? "" : "another sum";
}

std::string sum(const std::string& name, bool atomic) {
  return "        with T.block(\"" + name + "\"):\n            v = T.axis.reduce(8, i)\n" +
         (atomic ? "            T.block_attr({\"tilewright.atomic\": 1})\n" : "") +
         "            B[0] = B[0] + A[v]\n";
}

}  // namespace

TEST_CASE("additions do not race with each other") {
  CHECK(found(sum("B", true)) == "");
  CHECK(found(sum("B", false)).find("race") != std::string::npos);
  CHECK(
      found(
          "        with T.attr(0, \"tilewright.atomic\", 1):\n            B[0] = B[0] + A[i]\n") ==
      "");
}

TEST_CASE("whatever else touches the element races with additions, before or after them") {
  const std::string plain = "        with T.block(\"P\"):\n            v = T.axis.spatial(8, i)\n";
  CHECK(found(sum("B", true) + plain + "            T.where(i == 7)\n            B[0] = A[v]\n")
            .find("race") != std::string::npos);
  CHECK(found(plain + "            T.where(i == 3)\n            B[0] = A[v]\n" + sum("B", true))
            .find("race") != std::string::npos);
  CHECK(found(sum("B", true) + plain + "            T.where(i == 7)\n            B[7] = B[0]\n")
            .find("race") != std::string::npos);
  CHECK(found(sum("B", true) + sum("C", false)).find("race") != std::string::npos);
}
