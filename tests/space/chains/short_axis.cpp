#include <tilewright/impl/space/chains/short_axis.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/cpu.hpp>

#include "../draws.hpp"

using namespace tilewright;

namespace {

/// Density and velocity of each point, sums over its directions, and a result in each direction that reads both; directions
/// are the first axis, or the one between rows and columns.
ir::function collision(int directions, int rows, int columns, bool directions_first = true) {
  const auto n = [](int v) { return std::to_string(v); };
  const std::string point = "(" + n(rows) + ", " + n(columns) + ")",
                    shape = directions_first
                                ? "(" + n(directions) + ", " + n(rows) + ", " + n(columns) + ")"
                                : "(" + n(rows) + ", " + n(directions) + ", " + n(columns) + ")",
                    at = directions_first ? "[vq, vy, vx]" : "[vy, vq, vx]",
                    axes = directions_first ? "q, y, x" : "y, q, x",
                    variables = directions_first ? "vq, vy, vx" : "vy, vq, vx";
  std::string text = "@T.prim_func\ndef main(F: T.Buffer(" + shape +
                     ", \"float32\"), E: T.Buffer((" + n(directions) +
                     ",), \"float32\"), G: T.Buffer(" + shape + ", \"float32\")):\n";
  for (const char* sum : {"R", "U"})
    text += std::string("    ") + sum + " = T.alloc_buffer(" + point + ", \"float32\")\n";
  const auto sum = [&](const std::string& to, const std::string& value) {
    text += "    for y, x, q in T.grid(" + n(rows) + ", " + n(columns) + ", " + n(directions) +
            "):\n        with T.block(\"" + to +
            "\"):\n            vy, vx, vq = T.axis.remap(\"SSR\", [y, x, q])\n"
            "            with T.init():\n                " +
            to + "[vy, vx] = T.float32(0)\n            " + to + "[vy, vx] = " + to + "[vy, vx] + " +
            value + "\n";
  };
  sum("R", "F" + at);
  sum("U", "F" + at + " * E[vq]");
  text += "    for " + axes + " in T.grid" + shape +
          ":\n        with T.block(\"G\"):\n            " + variables +
          " = T.axis.remap(\"SSS\", [" + axes + "])\n            G" + at + " = F" + at +
          " * T.float32(0.5) + R[vy, vx] * E[vq] - U[vy, vx] * U[vy, vx]\n";
  return ir::parse(text);
}

std::size_t nests(const schedule& s) {
  const ir::seq_node* all = ir::as_seq(ir::root_block(s.function())->body);
  return all ? all->stmts.size() : 1;
}

/// Loops of that kind around all blocks of the function.
std::size_t loops(const schedule& s, ir::loop_kind kind) {
  std::size_t out = 0;
  ir::for_each_stmt(s.function().body, [&](const ir::stmt& at) {
    const ir::loop_node* loop = ir::as_loop(at);
    if (loop && loop->loop == kind) ++out;
  });
  return out;
}

}  // namespace

TEST_CASE("results along a short axis and the sums that they share are one pass over the points") {
  for (const bool directions_first : {true, false})
    for (const int columns : {64, 70})
      for (const int threads : {1, 4}) {
        const ir::function f = collision(9, 8, columns, directions_first);
        const std::vector<schedule> sketches =
            space::default_cpu().sketches(f, draws::haswell(threads), 1);
        CAPTURE(directions_first);
        CAPTURE(columns);
        INFO(sketches.front().show());
        CHECK(nests(sketches.front()) == 1);
        CHECK(loops(sketches.front(), ir::loop_kind::unrolled) == 1);  // the results of a point
        CHECK(loops(sketches.front(), ir::loop_kind::vectorized) >= 2);
        draws::check(f, sketches, 4);
      }
}

TEST_CASE("records and the sums over each of them that they share are one pass over their points") {
  for (const int points : {64, 70})
    for (const int numbers : {3, 4, 8}) {
      const std::string n = std::to_string(points), k = std::to_string(numbers),
                        records = "(" + n + ", " + k + ")";
      const ir::function f = ir::parse(
          "@T.prim_func\ndef main(A: T.Buffer(" + records + ", \"float32\"), C: T.Buffer(" +
          records + ", \"float32\")):\n    S = T.alloc_buffer((" + n +
          ",), \"float32\")\n    for n, k in T.grid" + records +
          ":\n        with T.block(\"S\"):\n            vn, vk = T.axis.remap(\"SR\", [n, k])\n"
          "            with T.init():\n                S[vn] = T.float32(0)\n"
          "            S[vn] = S[vn] + A[vn, vk] * A[vn, vk]\n    for n, i in T.grid" +
          records +
          ":\n        with T.block(\"C\"):\n            vn, vi = T.axis.remap(\"SS\", [n, i])\n"
          "            C[vn, vi] = A[vn, vi] * T.rsqrt(S[vn] + T.float32(1))\n");
      const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
      CAPTURE(points);
      CAPTURE(numbers);
      INFO(sketches.front().show());
      CHECK(nests(sketches.front()) == 1);
      CHECK(loops(sketches.front(), ir::loop_kind::unrolled) == 1);  // the numbers of a record
      CHECK(loops(sketches.front(), ir::loop_kind::vectorized) >= 1);
      draws::check(f, sketches, 4);
    }
}

TEST_CASE("results along an axis that is not short are not written out") {
  const ir::function f = collision(40, 4, 64);
  for (const schedule& s : space::default_cpu().sketches(f, draws::haswell(), 1))
    CHECK(loops(s, ir::loop_kind::unrolled) == 0);
}

TEST_CASE("points that fill no vector stay as they are") {
  const ir::function f = collision(9, 4, 5);
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
  for (const schedule& s : sketches) CHECK(loops(s, ir::loop_kind::unrolled) == 0);
  draws::check(f, sketches, 4);
}
