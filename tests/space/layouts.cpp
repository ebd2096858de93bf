// Arguments in either storage order: the default space gives right programs without gathers.
#include <string>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/space/modules/register_tiling.hpp>
#include <tilewright/target/cpu.hpp>

#include "../schedule/check_schedule.hpp"
#include "trace_text.hpp"

using namespace tilewright;
using traces::mentions;

namespace {

std::vector<schedule> sketches_of(const ir::function& f, int threads = 1) {
  static const target::cpu cpu = target::named("haswell");
  return space::default_cpu().sketches(f, {&cpu, threads}, 1);
}

std::string matrix(const std::string& name, int rows, int columns, bool by_rows) {
  return "    " + name + " = T.match_buffer(" + name + "_, (" + std::to_string(rows) + ", " +
         std::to_string(columns) + "), \"int32\", strides=[" +
         (by_rows ? std::to_string(columns) + ", 1" : "1, " + std::to_string(rows)) + "])\n";
}

/// C = A B with operands by rows or by columns.
ir::function product(bool a, bool b, bool c) {
  return ir::parse("@T.prim_func\ndef main(A_: T.handle, B_: T.handle, C_: T.handle):\n" +
                   matrix("A", 19, 23, a) + matrix("B", 23, 37, b) + matrix("C", 19, 37, c) + R"(
    for i, j, k in T.grid(19, 37, 23):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

}  // namespace

TEST_CASE("a matrix product is tiled whatever the storage orders are") {
  for (int orders = 0; orders < 8; ++orders) {
    CAPTURE(orders);
    const bool a = orders & 1, b = orders & 2, c = orders & 4;
    const ir::function f = product(a, b, c);
    CHECK(space::needs_register_tiling(schedule(f), "C"));
    // the operand that varies along the output's vectors
    const bool transposed = c ? !b : a;
    for (const schedule& s : sketches_of(f)) {
      CHECK(mentions(s, "cache_read") >= transposed);
      check_meaning(s, f);
    }
  }
}

TEST_CASE("a transposition goes by squares") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((21, 35), "int32"), C: T.Buffer((35, 21), "int32")):
    for i, j in T.grid(35, 21):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vj, vi]
)");
  for (const schedule& s : sketches_of(f)) {
    CHECK(mentions(s, "vectorize"));
    CHECK(mentions(s, "unroll"));
    check_meaning(s, f);
  }
}

TEST_CASE("a chain over a column-major matrix runs in strips of rows") {
  const ir::function f = ir::parse("@T.prim_func\ndef main(A_: T.handle, C_: T.handle):\n" +
                                   matrix("A", 21, 35, false) + matrix("C", 21, 35, false) + R"(
    S = T.alloc_buffer((21,), "int32")
    E = T.alloc_buffer((21, 35), "int32")
    for i, j in T.grid(21, 35):
        with T.block("S"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = 0
            S[vi] = S[vi] + A[vi, vj]
    for i, j in T.grid(21, 35):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            E[vi, vj] = (A[vi, vj] - S[vi]) * (A[vi, vj] - S[vi])
    for i, j in T.grid(21, 35):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = E[vi, vj] + E[vi, 34 - vj]
)");
  const std::vector<schedule> sketches = sketches_of(f);
  CHECK(mentions(sketches.front(), "reorder"));
  CHECK(mentions(sketches.front(), "compute_at"));
  for (const schedule& s : sketches) check_meaning(s, f);
}
