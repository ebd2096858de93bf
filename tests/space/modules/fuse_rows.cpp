#include <tilewright/space/modules/fuse_rows.hpp>

#include <cstdint>
#include <string>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/primitive/query.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/support/any.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Mean and sum of squared deviations of windows of three elements; both are outputs, or the second alone.
ir::function windows(int length, bool mean_is_output) {
  const std::string n = std::to_string(length), buffer = "T.Buffer((" + n + ",), \"float32\")",
                    own = " = T.alloc_buffer((" + n + ",), \"float32\")\n";
  std::string text = "@T.prim_func\ndef main(X: T.Buffer((" + std::to_string(length + 2) +
                     ",), \"float32\"), " + (mean_is_output ? "A: " + buffer + ", " : "") +
                     "B: " + buffer + "):\n    S" + own + "    Q" + own;
  if (!mean_is_output) text += "    A" + own;
  const auto sum = [&](const std::string& to, const std::string& value) {
    text += "    for n, w in T.grid(" + n + ", 3):\n        with T.block(\"" + to +
            "\"):\n            vn, vw = T.axis.remap(\"SR\", [n, w])\n            with T.init():\n"
            "                " +
            to + "[vn] = T.float32(0)\n            " + to + "[vn] = " + to + "[vn] + " + value +
            "\n";
  };
  const auto element = [&](const std::string& to, const std::string& value) {
    text += "    for n in T.serial(" + n + "):\n        with T.block(\"" + to +
            "\"):\n            vn = T.axis.spatial(" + n + ", n)\n            " + to +
            "[vn] = " + value + "\n";
  };
  sum("S", "X[vn + vw]");
  element("A", "T.exp(S[vn] * T.float32(0.25))");
  sum("Q", "(X[vn + vw] - A[vn]) * (X[vn + vw] - A[vn])");
  element("B", "T.sqrt(Q[vn] + T.float32(1))");
  return ir::parse(text);
}

/// Nests that the root block holds one after the other.
std::size_t nests(const schedule& s) {
  const ir::seq_node* all = ir::as_seq(ir::root_block(s.function())->body);
  return all ? all->stmts.size() : 1;
}

}  // namespace

TEST_CASE("a long chain of sums of windows is one pass in parts first, and passes apart later") {
  for (const bool mean_is_output : {true, false})
    for (const int threads : {1, 4}) {
      const ir::function f = windows(9001, mean_is_output);
      const std::vector<schedule> sketches =
          space::default_cpu().sketches(f, draws::haswell(threads), 1);
      CAPTURE(mean_is_output);
      INFO(sketches.front().show());
      CHECK(nests(sketches.front()) == 1);
      std::size_t most = 0;
      for (const schedule& s : sketches) most = std::max(most, nests(s));
      CHECK(most >= 3);
      draws::check(f, sketches, 6);
    }
}

TEST_CASE("results that are computed from other results are one pass in parts first") {
  const std::string text = R"(@T.prim_func
def main(G: T.Buffer((9001,), "float32"), M: T.Buffer((9001,), "float32"), P: T.Buffer((9001,), "float32"), A: T.Buffer((9001,), "float32"), Q: T.Buffer((9001,), "float32")):
    for n in range(9001):
        with T.block("A"):
            vn = T.axis.spatial(9001, n)
            A[vn] = M[vn] * T.float32(0.5) + G[vn]
    for n in range(9001):
        with T.block("Q"):
            vn = T.axis.spatial(9001, n)
            Q[vn] = P[vn] - A[vn] / (T.exp(M[vn]) + T.float32(1))
)";
  const ir::function f = ir::parse(text);
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
  INFO(sketches.front().show());
  CHECK(nests(sketches.front()) == 1);
  CHECK(support::any(sketches, [](const schedule& s) { return nests(s) == 2; }));
  draws::check(f, sketches, 6);
}

TEST_CASE("short chains of sums stay as they are") {
  for (const schedule& s : space::default_cpu().sketches(windows(500, true), draws::haswell(), 1))
    CHECK(nests(s) > 1);
}

namespace {

/// Rows, or columns, by the root of their sum of squares.
ir::function l2_norm(int rows, int columns, bool of_rows) {
  const auto n = [](int v) { return std::to_string(v); };
  const std::string shape = "T.Buffer((" + n(rows) + ", " + n(columns) + "), \"float32\")",
                    kept = of_rows ? "i" : "j", reduced = of_rows ? "j" : "i",
                    grid = of_rows ? "i, j in T.grid(" + n(rows) + ", " + n(columns)
                                   : "j, i in T.grid(" + n(columns) + ", " + n(rows);
  return ir::parse(
      "@T.prim_func\ndef main(X: " + shape + ", Y: " + shape + "):\n    S = T.alloc_buffer((" +
      n(of_rows ? rows : columns) + ",), \"float32\")\n    for " + grid +
      "):\n        with T.block(\"S\"):\n            v" + kept + ", v" + reduced +
      " = T.axis.remap(\"SR\", [" + kept + ", " + reduced +
      "])\n            with T.init():\n                S[v" + kept +
      "] = T.float32(0)\n            S[v" + kept + "] = S[v" + kept +
      "] + X[vi, vj] * X[vi, vj]\n    for i, j in T.grid(" + n(rows) + ", " + n(columns) +
      "):\n        with T.block(\"Y\"):\n            vi, vj = T.axis.remap(\"SS\", [i, "
      "j])\n            Y[vi, vj] = X[vi, vj] / T.sqrt(S[v" +
      kept + "] + T.float32(1))\n");
}

/// Iterations of the outermost loop of the first sketch.
std::int64_t first_groups(const ir::function& f, int threads) {
  const schedule first = space::default_cpu().sketches(f, draws::haswell(threads), 1).front();
  const ir::loop_node* outer = ir::as_loop(ir::root_block(first.function())->body);
  REQUIRE(outer);
  REQUIRE(ir::is_int(outer->extent));
  return ir::as_int(outer->extent);
}

}  // namespace

TEST_CASE(
    "rows are computed in groups first where a group stays in a cache and threads have several") {
  CHECK(first_groups(l2_norm(64, 100, true), 1) == 16);
  CHECK(first_groups(l2_norm(64, 100, true), 4) == 16);
  CHECK(first_groups(l2_norm(48, 100, true), 4) == 48);   // three groups for each thread
  CHECK(first_groups(l2_norm(64, 4000, true), 1) == 64);  // 128 KiB a group
  CHECK(first_groups(l2_norm(8, 100, true), 1) == 8);
  for (const bool of_rows : {true, false}) {
    const ir::function f = l2_norm(33, 70, of_rows);
    draws::check(f, space::default_cpu().sketches(f, draws::haswell(), 1), 6);
  }
}

TEST_CASE("columns are computed in strips of four vectors first") {
  CHECK(first_groups(l2_norm(64, 128, false), 1) == 4);  // of 32 floats each
}

TEST_CASE("strips of rows that lie whole pages apart are the second choice") {
  const auto apart = [](int rows, int columns) {
    return nests(space::default_cpu()
                     .sketches(l2_norm(rows, columns, false), draws::haswell(), 1)
                     .front()) > 1;
  };
  CHECK(apart(64, 1024));
  CHECK_FALSE(apart(8, 1024));  // 32 KiB hold as many
  CHECK_FALSE(apart(64, 1000));
}
