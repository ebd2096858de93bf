#include <tilewright/schedule/pipeline.hpp>

#include "script_schedule.hpp"

using namespace tilewright;

TEST_CASE("compute_inline: reads a buffer that every iteration fills anew") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    Y = T.alloc_buffer((8,), "int32")
    X = T.alloc_buffer((8, 8), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(Y[0:8])
            for j in range(8):
                with T.block("W"):
                    vj = T.axis.spatial(8, j)
                    Y[vj] = A[vi, vj]
        for j in range(8):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vj]
    for i, j in T.grid(8, 8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = X[vi, vj]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "compute_inline", 1, [&] { s.compute_inline(x); });
}

TEST_CASE("compute_inline: reads values that follow from what every iteration overwrites") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8, 8), "int32")):
    Z = T.alloc_buffer((1,), "int32")
    Y = T.alloc_buffer((8,), "int32")
    X = T.alloc_buffer((8, 8), "int32")
    for i in range(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[0] = A[vi]
        for j in range(8):
            with T.block("Y"):
                vj = T.axis.spatial(8, j)
                Y[vj] = Z[0] + vj
        for j in range(8):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vj]
    for i, j in T.grid(8, 8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = X[vi, vj]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "compute_inline", 1, [&] { s.compute_inline(x); });
}

TEST_CASE("compute_inline: reads a loop that the writer of its input uses") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    Y = T.alloc_buffer((8,), "int32")
    X = T.alloc_buffer((8, 8), "int32")
    for i in range(8):
        for j in range(8):
            with T.block("Y"):
                vj = T.axis.spatial(8, j)
                Y[vj] = A[i, vj]
        for j in range(8):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vj]
    for i, j in T.grid(8, 8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = X[vi, vj]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "compute_inline", 1, [&] { s.compute_inline(x); });
}

TEST_CASE("compute_inline: reads what its reader finds in the same iteration") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    Y = T.alloc_buffer((8, 8), "int32")
    X = T.alloc_buffer((8, 8), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(Y[vi, 0:8])
            for j in range(8):
                with T.block("W"):
                    vj = T.axis.spatial(8, j)
                    Y[vi, vj] = A[vi, vj]
        for j in range(8):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, vj] = Y[vi, vj]
        for j in range(8):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vi, 7 - vj]
)");
  schedule s(f);
  s.compute_inline(s.block("X"));
  check_meaning(s, f);
}

TEST_CASE("compute_inline: reads a halo that is computed again") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((18,), "int32"), D: T.Buffer((16,), "int32")):
    Y = T.alloc_buffer((18,), "int32")
    X = T.alloc_buffer((16,), "int32")
    for i in range(4):
        for j in range(6):
            with T.block("Y"):
                vj = T.axis.spatial(18, i * 4 + j)
                Y[vj] = A[vj] * 2
        for j in range(4):
            with T.block("X"):
                vi = T.axis.spatial(16, i * 4 + j)
                X[vi] = Y[vi] + Y[vi + 1] + Y[vi + 2]
    for i in range(16):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            D[vi] = X[vi]
)");
  schedule s(f);
  s.compute_inline(s.block("X"));
  check_meaning(s, f);
}
