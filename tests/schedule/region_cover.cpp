// Region cover, declared in analysis.hpp: what blocks that hold others surely write.
#include <tilewright/schedule/analysis.hpp>

#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// Each iteration fills X by a block that holds others, and reads it.
ir::function filled_by(std::string_view inside) {
  return program_of(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8, 8), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:8])
            T.writes(X[0:8])
            <inside>
        for j in range(8):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)",
                    {{"<inside>", inside}});
}

/// Only where X is written anew in each of them do iterations run at once.
void check_unfilled(std::string_view inside) {
  schedule s(filled_by(inside));
  const loop_rv i = s.get_loops(s.block("R"))[0];
  check_refusal(s, "parallel", 1, [&] { s.parallel(i); });
}

}  // namespace

TEST_CASE("analysis: inner blocks write all of a box") {
  for (const char* inside : {R"(for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        X[vj] = A[vi, vj])",
                             R"(for j, k in T.grid(2, 4):
    with T.block("I"):
        vj, vk = T.axis.remap("SS", [j, k])
        X[vk * 2 + vj] = A[vi, vk * 2 + vj])"}) {
    schedule s(filled_by(inside));
    s.parallel(s.get_loops(s.block("R"))[0]);
    check_meaning(s, filled_by(inside));
  }
}

TEST_CASE("analysis: inner blocks write less than a box by a guard") {
  check_unfilled(R"(for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        T.where(j >= vi)
        X[vj] = A[vi, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by a condition") {
  check_unfilled(R"(for j in range(8):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        if vj >= vi:
            X[vj] = A[vi, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by a loop of a block in between") {
  check_unfilled(R"(with T.block("M"):
    vm = T.axis.spatial(8, vi)
    T.reads(A[vm, 0:8])
    T.writes(X[0:8])
    for j in range(8 - vm):
        with T.block("I"):
            vj = T.axis.spatial(8, j + vm)
            X[vj] = A[vm, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by loops that are shorter") {
  check_unfilled(R"(for j in range(4):
    with T.block("I"):
        vj = T.axis.spatial(8, j)
        X[vj] = A[vi, vj])");
}

TEST_CASE("analysis: inner blocks write less than a box by steps") {
  check_unfilled(R"(for j in range(2):
    with T.block("I"):
        vj = T.axis.spatial(2, j)
        T.reads(A[vi, vj * 5:vj * 5 + 3])
        T.writes(X[vj * 5:vj * 5 + 3])
        for c in range(3):
            X[vj * 5 + c] = A[vi, vj * 5 + c])");
}

TEST_CASE("region_cover: a copy that a layout spreads out does not write the box around it") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]
)"));
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  const block_rv copy = s.read_at(i, b, 0, "global");
  s.transform_layout(copy, {buffer_selector::list::write, 0}, "lambda i, j: (i * 8 + j,)");
  check_refusal(s, "read_at", 5, [&] { s.read_at(i, b, 0, "local"); });
}

TEST_CASE("analysis: stores to a view are stores to the buffer") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), C: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(2, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            T.writes(C[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])
            Cs = T.match_buffer(C[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), offset_factor=1)
            for ii, jj in T.grid(4, 4):
                Cs[ii, jj] = A[vi * 4 + ii, vj * 4 + jj] + 1
)");
  schedule s(f);
  s.cache_write(s.block("C"), 0, "global");
  check_meaning(s, f);
}
