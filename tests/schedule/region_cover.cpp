// Region cover, declared in analysis.hpp: what blocks that hold others surely write.
#include <tilewright/schedule/analysis.hpp>

#include "script_schedule.hpp"

using namespace tilewright;

TEST_CASE("analysis: inner blocks write less than a box by a guard") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(X[0:8])
            for j in range(8):
                with T.block("I"):
                    vj = T.axis.spatial(8, j)
                    T.where(j >= vi)
                    X[vj] = A[vi, vj]
        for j in range(8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)"));
  const loop_rv i = s.get_loops(s.block("R"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

TEST_CASE("analysis: inner blocks write less than a box by a condition") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(X[0:8])
            for j in range(8):
                with T.block("I"):
                    vj = T.axis.spatial(8, j)
                    if vj >= vi:
                        X[vj] = A[vi, vj]
        for j in range(8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)"));
  const loop_rv i = s.get_loops(s.block("R"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

TEST_CASE("analysis: inner blocks write less than a box by a loop of a block in between") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(X[0:8])
            with T.block("M"):
                vm = T.axis.spatial(8, vi)
                T.reads(A[vm, 0:8])
                T.writes(X[0:8])
                for j in range(8 - vm):
                    with T.block("I"):
                        vj = T.axis.spatial(8, j + vm)
                        X[vj] = A[vm, vj]
        for j in range(8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)"));
  const loop_rv i = s.get_loops(s.block("R"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}
