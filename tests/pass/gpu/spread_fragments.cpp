#include <tilewright/pass/gpu/spread_fragments.hpp>

#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/print.hpp>
#include <tilewright/support/error.hpp>

#include "kernels_of_threads.hpp"

using namespace tilewright;

namespace {

/// Scores A B of 16 x 32, and what is done with a number R for each of their rows.
ir::function with_rows(const std::string& what, const std::string& scope = "wmma.rows") {
  return threads::without_blocks((R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 32), "float16"), C: T.Buffer((16, 32), "float32"), D: T.Buffer((16,), "float32")):
    F = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
    G = T.alloc_buffer((16, 32), "float16", scope="wmma.matrix_b")
    S = T.alloc_buffer((16, 32), "float32", scope="wmma.accumulator")
    R = T.alloc_buffer((16,), "float32", scope=")" +
                                  scope + R"(")
    for i, j in T.grid(16, 16):
        with T.block("F"):
            vi, vj = T.axis.remap("SS", [i, j])
            F[vi, vj] = A[vi, vj]
    for i, j in T.grid(16, 32):
        with T.block("G"):
            vi, vj = T.axis.remap("SS", [i, j])
            G[vi, vj] = B[vi, vj]
    for i, j, k in T.grid(16, 32, 16):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                S[vi, vj] = T.float32(0)
            S[vi, vj] = S[vi, vj] + T.cast(F[vi, vk], "float32") * T.cast(G[vk, vj], "float32")
    for i in range(16):
        with T.block("first"):
            vi = T.axis.spatial(16, i)
            R[vi] = T.float32(1)
)" + what)
                                     .c_str());
}

const std::string sum = R"(    for i, j in T.grid(16, 32):
        with T.block("R"):
            vi, vj = T.axis.remap("SR", [i, j])
            R[vi] = R[vi] + S[vi, vj] * T.float32(2)
)";

std::string block(const std::string& name, const std::string& axes, const std::string& store) {
  const bool two = axes == "ij";
  return std::string("    for ") + (two ? "i, j in T.grid(16, 32)" : "i in range(16)") +
         ":\n        with T.block(\"" + name + "\"):\n            " +
         (two ? "vi, vj = T.axis.remap(\"SS\", [i, j])" : "vi = T.axis.spatial(16, i)") +
         "\n            " + store + "\n";
}

}  // namespace

TEST_CASE("fragments: a sum of rows combines what lanes have, then four lanes by shuffles") {
  const ir::function after =
      pass::spread_fragments(with_rows(sum + block("C", "ij", "C[vi, vj] = S[vi, vj] / R[vi]")));
  const std::string text = ir::print(after);
  INFO(text);
  CHECK(threads::count(after, "tw_shuffle_xor") == 2);
  CHECK(text.find("R_of_lane") != text.npos);
  // two rows of the one tile to a lane
  CHECK(text.find("R = T.decl_buffer((1, 2), \"float32\", scope=\"local\")") != text.npos);
}

TEST_CASE("fragments: numbers of rows stand beside their rows alone") {
  const auto refused = [](const ir::function& f, const std::string& why) {
    CAPTURE(why);
    try {
      pass::spread_fragments(f);
      FAIL("accepted");
    } catch (const build_error& e) {
      INFO(e.what());
      CHECK(std::string(e.what()).find(why) != std::string::npos);
    }
  };
  // elsewhere than in rows, in memory, and a sum over rows
  refused(with_rows(block("C", "ij", "C[vi, vj] = S[vi, vj] / R[vi // 2]")),
          "whole tiles of 16 rows");
  refused(with_rows(block("D", "i", "D[vi] = R[vi]")), "copy them to fragments first");
  refused(with_rows(R"(    for j, i in T.grid(16, 16):
        with T.block("R"):
            vj, vi = T.axis.remap("SR", [j, i])
            R[vj] = R[vj] + S[vi, vj]
)"),
          "something else than the columns");
}
