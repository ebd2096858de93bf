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

namespace {

/// Rows of pixels with three channels, the statement below `i`, `x` and `c`.
function pixels(const std::string& statement, const std::string& c = "T.vectorized(3)",
                const std::string& guard = "", const std::string& x = "range(17)") {
  return parse(
      "@T.prim_func\ndef main(X: T.Buffer((9, 20, 3), \"float32\"), Z: T.Buffer((9, 20, 4), "
      "\"float32\"), Y: T.Buffer((9, 17, 3), \"float32\"), O: T.Buffer((9, 17, 20), "
      "\"float32\")):\n    for i in range(9):\n        for x in " +
      x + ":\n            for c in " + c + ":\n                " +
      (guard.empty() ? "" : "if " + guard + ":\n                    ") + statement + "\n");
}

/// Elements of the one vectorized loop that is left; 0 where there is another number of these.
std::int64_t row_of(const function& f) {
  const function g = pass::vectorize_copies(f, machine());
  check_same(f, g, 0);
  check_same(f, pass::lower(f, machine()), 0);
  std::int64_t out = 0;
  int count = 0;
  for_each_stmt(g.body, [&](const stmt& s) {
    const loop_node* l = as_loop(s);
    if (!l || l->loop != loop_kind::vectorized) return;
    out = pass::constant_extent(*l);
    ++count;
  });
  return count == 1 ? out : 0;
}

}  // namespace

TEST_CASE("vectorize_copies: pixels of few channels are copied as one row") {
  const std::string copied = "Y[i, x, c] = X[i, x + 2, c]";
  CHECK(row_of(pixels(copied)) == 51);
  CHECK(row_of(pixels(copied, "range(3)")) == 51);
  CHECK(row_of(pixels("Y[i, x, c] = T.float32(2)")) == 3);  // a fill, which sums read row by row
  CHECK(row_of(pixels("Y[i, x, c] = X[i, 4, 0]")) == 51);
  // a border on either side, in front of the row, and below a guard
  CHECK(row_of(pixels("Y[i, x, c] = T.if_then_else(2 <= i and i < 7 and i <= x + 1 and x + i < 15, "
                      "X[i, x - i + 3, c], T.float32(0))")) == 51);
  CHECK(row_of(pixels("Y[i, x, c] = T.if_then_else(3 < x, X[i, x - 4, c], X[i, x, c])")) == 51);
  CHECK(row_of(pixels(copied, "T.vectorized(3)", "i < x and i != 2")) == 51);
  CHECK(row_of(pixels(copied, "range(3)", "x + i * 2 <= 20")) == 51);
  CHECK(row_of(pixels("Y[i, 16 - x, c] = X[i, x, c]")) != 51);
}

TEST_CASE("vectorize_copies: pixels stay apart where their channels are no row") {
  CHECK(row_of(pixels("Y[i, x, c] = Z[i, x, c]")) == 3);
  CHECK(row_of(pixels("O[i, x, c] = X[i, x, c]")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, 0]")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, c] * X[i, x, c]")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = Y[i, x, c] + X[i, x, c]")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = T.cast(x, \"float32\")")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, c]", "T.vectorized(3)", "x * 2 < 9")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, c]", "T.vectorized(3)", "x + c < 9")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, c]", "T.vectorized(3)", "X[i, x, 0] < T.float32(0)")) ==
        3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, c]", "T.vectorized(3)", "", "range(2, 17)")) == 3);
  CHECK(row_of(pixels("Y[i, x, c] = X[i, x, c]", "T.vectorized(3)", "", "T.unroll(17)")) == 3);
}
