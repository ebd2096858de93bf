#include <tilewright/pass/vector/vectorize_copies.hpp>

#include <tilewright/ir/external.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/pass/compact_buffers.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/pass/lower_blocks.hpp>
#include <tilewright/pass/simplify_loops.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/target/cpu.hpp>

#include "../programs.hpp"

using namespace programs;

namespace {

const target::cpu& machine() {
  static const target::cpu cpu = target::named("haswell");
  return cpu;
}

function lowered(const std::string& statements) {
  return parse(
      "@T.prim_func\ndef main(X: T.Buffer((40, 90), \"float32\"), Y: T.Buffer((40, 40), "
      "\"float32\")):\n" +
      statements);
}

int vectors(const function& f) {
  const function g = pass::vectorize_copies(f, machine());
  check_same(f, g, 0);
  return count_loops(g.body, loop_kind::vectorized);
}

}  // namespace

TEST_CASE("vectorize_copies: what is staged for one of several channels lies side by side") {
  const function f = parse(R"(
@T.prim_func
def main(X: T.Buffer((30, 3), "float32"), Y: T.Buffer((28, 3), "float32")):
    P = T.alloc_buffer((30, 3), "float32")
    for c in range(3):
        for i in range(30):
            with T.block("P"):
                vi, vc = T.axis.remap("SS", [i, c])
                P[vi, vc] = T.if_then_else(2 <= vi and vi < 27, X[vi - 2, vc], T.float32(0))
        for i in range(28):
            with T.block("Y"):
                vi, vc = T.axis.remap("SS", [i, c])
                Y[vi, vc] = P[vi, vc] + P[vi + 1, vc] * P[vi + 2, vc]
)");
  const function compact = pass::compact_buffers(pass::simplify_loops(pass::lower_blocks(f)));
  CHECK(vectors(compact) == 1);
  check_same(f, pass::lower(f, machine()), 1e-6);
}

TEST_CASE("vectorize_copies: only loops that store one element beside the other") {
  const auto row = [](const std::string& j, const std::string& statement,
                      const std::string& guard = "") {
    return lowered("    for i in range(40):\n        for j in " + j + ":\n            " +
                   (guard.empty() ? "" : "if " + guard + ":\n                ") + statement + "\n");
  };
  CHECK(vectors(row("range(40)", "Y[i, j] = X[i, j * 2 + 1] * X[0, i]")) == 1);
  CHECK(vectors(row("range(40)", "Y[i, j] = X[i, j]", "i + j < 50")) == 1);
  CHECK(vectors(row("range(3, 40)", "Y[i, j] = T.float32(1)")) == 1);
  CHECK(vectors(row("range(4)", "Y[i, j] = X[i, j]")) == 1);
  CHECK(vectors(row("range(3)", "Y[i, j] = X[i, j]")) == 0);
  CHECK(vectors(row("T.unroll(40)", "Y[i, j] = X[i, j]")) == 0);
  CHECK(vectors(row("range(40)", "Y[j, i] = X[i, j]")) == 0);
  CHECK(vectors(row("range(40)", "Y[i, j] = X[j, i]")) == 0);
  CHECK(vectors(row("range(40)", "Y[i, j] = Y[i, j] + X[i, j]")) == 0);
  CHECK(vectors(row("range(39)", "Y[i, j + 1] = Y[i, j]")) == 0);
  CHECK(vectors(row("range(40)", "Y[i, j] = X[i, j]", "X[0, 0] < T.float32(0)")) == 0);
  CHECK(vectors(row("range(i)", "Y[i, j] = X[i, j]")) == 0);
}
