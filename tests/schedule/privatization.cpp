// What iterations that run at once have for themselves stays inside of their loop.
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "script_schedule.hpp"

using namespace tilewright;

namespace {

/// Two tiles that share an element of B, which each of them computes for itself.
const char* const halo = R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((2, 2), "int32")):
    B = T.alloc_buffer((5,), "int32")
    C = T.alloc_buffer((2, 2), "int32")
    for i in T.parallel(2):
        for j, k in T.grid(3, 4):
            with T.block("B"):
                vi = T.axis.spatial(5, i * 2 + j)
                vk = T.axis.reduce(4, k)
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi + vk]
        for j in range(2):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi * 2 + vj] + B[vi * 2 + vj + 1]
    for i, j in T.grid(2, 2):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] * 2
)";

}  // namespace

TEST_CASE("private_results: readers do not leave a loop whose iterations have what they read") {
  const ir::function f = ir::parse(halo);
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C"), d = s.block("D");
  const std::vector<loop_rv> loops = s.get_loops(b);
  const loop_rv row = s.get_loops(d)[0];
  check_refusal(s, "compute_at", 0, [&] { s.compute_at(c, row); });
  check_refusal(s, "compute_inline", 0, [&] { s.compute_inline(c); });
  check_refusal(s, "cache_write", 0, [&] { s.cache_write(b, 0, "global", {c}); });
  check_schedule(s, f);
  s.reverse_compute_at(d, s.get_loops(c)[0]);  // into the loop
  s.compute_inline(c);
  check_schedule(s, f);
}

TEST_CASE("private_results: serial iterations may compute an element again") {
  const ir::function f = ir::parse(halo);
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  s.unroll(s.get_loops(b)[0]);
  schedule t = s.copy();
  s.compute_at(c, s.get_loops(s.block("D"))[0]);
  check_schedule(s, f);
  t.compute_inline(t.block("C"));
  check_schedule(t, f);
}

TEST_CASE("private_results: an epilogue is fused into what every iteration computes for itself") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), X: T.Buffer((4,), "int32"), D: T.Buffer((3, 4), "int32")):
    B = T.alloc_buffer((4,), "int32")
    C = T.alloc_buffer((4,), "int32")
    for i in T.parallel(3):
        for j, k in T.grid(4, 6):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [j, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for j in range(4):
            with T.block("C"):
                vi = T.axis.spatial(4, j)
                C[vi] = B[vi] + X[vi]
        for j in range(4):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vj]
)");
  schedule s(f);
  s.fuse_reduction_epilogue(s.block("B"), s.block("C"));  // C is private, too
  check_schedule(s, f);
}

TEST_CASE("private_results: parts of a nest share what iterations had for themselves") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((4, 2, 3), "int32")):
    B = T.alloc_buffer((3,), "int32")
    for o in range(4):
        for i in T.parallel(2):
            for j, k in T.grid(3, 4):
                with T.block("B"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    with T.init():
                        B[vj] = 0
                    B[vj] = B[vj] + A[vj + vk]
            for j in range(3):
                with T.block("C"):
                    vo, vi, vj = T.axis.remap("SSS", [o, i, j])
                    C[vo, vi, vj] = B[vj] + vo
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const std::vector<loop_rv> l = s.get_loops(b);
  check_refusal(s, "loop_partition", 0, [&] { s.loop_partition(l[0], {1, infer}); });
  CHECK_THROWS_AS(s.decompose_reduction(b, l[1]), schedule_error);
  s.decompose_reduction(b, l[3]);
  check_schedule(s, f);
}

TEST_CASE("private_results: write_at copies nothing that lanes have for themselves") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), C: T.Buffer((4, 8), "int32")):
    B = T.alloc_buffer((1,), "int32")
    for i in range(4):
        for j in T.vectorized(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[0] = A[vi, vj] + 1
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[0] * 2
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(b)[0];
  check_refusal(s, "write_at", 0, [&] { s.write_at(i, b, 0, "global"); });
  check_schedule(s, f);
}

TEST_CASE(
    "private_results: padding is written once, behind the nest of the blocks that hold its "
    "writer") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 9), "int32"), D: T.Buffer((4, 9), "int32")):
    B = T.alloc_buffer((4, 9), "int32")
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi, 0:9])
            T.writes(B[vi, 0:9])
            for c in range(9):
                with T.block("B"):
                    vc = T.axis.spatial(9, c)
                    B[vi, vc] = A[vi, vc] * 2
    for i, j in T.grid(4, 9):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] + 1
)");
  schedule s(f);
  s.parallel(s.get_loops(s.block("O"))[0]);
  s.transform_layout(s.block("D"), read_buffer(0), "lambda i, j: (i, j // 2, j % 2)", 0);
  CHECK(s.get_loops(s.block("buffer_B_padding")).size() == 3);
  check_schedule(s, f);
}

TEST_CASE("private_results: a nest of padding joins no private buffer from outside") {
  schedule padded(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((5,), "int32"), C: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((5,), "int32")
    for p in T.parallel(2):
        for i in range(3):
            with T.block("B"):
                vi = T.axis.spatial(5, p * 2 + i)
                B[vi] = A[vi] + 1
        for i in range(2):
            with T.block("C"):
                vi = T.axis.spatial(4, p * 2 + i)
                C[vi] = B[vi] + B[vi + 1]
)"));
  const block_rv b = padded.block("B");
  const buffer_selector first{buffer_selector::list::write, 0};
  check_refusal(padded, "transform_layout", 0,
                [&] { padded.transform_layout(b, first, "lambda i: (i // 2, i % 2)", 0); });
  padded.transform_layout(b, first, "lambda i: (i // 5, i % 5)");
}

TEST_CASE("private_results: a block that could write so before is believed") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), I: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i in T.parallel(4):
        with T.block("C"):
            C[T.min(i * 2, 7)] = A[i]
)");
  schedule s(f);
  s.annotate(s.block("C"), "note", 1);
  s.split<2>(s.get_loops(s.block("C"))[0], {2, 2});
  CHECK(s.get_loops(s.block("C")).size() == 2);
}

TEST_CASE(
    "private_results: a block that writes others too, and a scope that does not allocate them") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 7), "int32"), C: T.Buffer((8, 7), "int32")):
    S = T.alloc_buffer((1,), "int32")
    for i in T.parallel(8):
        with T.block("O"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 0:7], S[0])
            T.writes(C[vi, 0:7], S[0])
            for j in range(7):
                with T.block("S"):
                    vj = T.axis.reduce(7, j)
                    with T.init():
                        S[0] = 0
                    S[0] = S[0] + A[vi, vj]
            for j in range(7):
                with T.block("C"):
                    vj = T.axis.spatial(7, j)
                    C[vi, vj] = S[0] - A[vi, vj]
)");
  schedule s(f);
  const block_rv o = s.block("O");
  check_refusal(s, "transform_layout", 0,
                [&] { s.transform_layout(o, written_buffer(1), "lambda i: (i // 4, i % 4)", 0); });
  s.transform_layout(o, written_buffer(1), "lambda i: (i, 0)");
  check_schedule(s, f);

  const ir::function g = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 3), "int32")):
    S = T.alloc_buffer((1,), "int32")
    with T.block("O"):
        T.reads(A[0:4, 0:3], S[0])
        T.writes(C[0:4, 0:3], S[0])
        for i in T.parallel(4):
            for j in range(3):
                with T.block("S"):
                    vi, vj = T.axis.remap("SR", [i, j])
                    with T.init():
                        S[0] = 0
                    S[0] = S[0] + A[vi, vj]
            for j in range(3):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = S[0] - A[vi, vj]
)");
  schedule t(g);
  const block_rv sum = t.block("S"), reader = t.block("C");
  check_refusal(t, "cache_write", 0, [&] { t.cache_write(sum, 0, "global", {reader}); });
  check_schedule(t, g);
}
