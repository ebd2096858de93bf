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

namespace {

/// What a block writes for its iteration alone beside what all see; `rest` reads it, too.
ir::function beside(const std::string& rest) {
  return ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32"), E: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((1,), "int32")
    with T.block("O"):
        T.reads(A[0:8], S[0])
        T.writes(D[0:8], E[0:8], S[0])
        for i in range(8):
            with T.block("both"):
                vi = T.axis.spatial(8, i)
                S[0] = A[vi] * 2
                D[vi] = A[vi] + 1
            with T.block("E"):
                vi = T.axis.spatial(8, i)
                E[vi] = S[0] - vi
)" + rest);
}

}  // namespace

TEST_CASE("private_results: each iteration has one of the buffers of a block for itself") {
  const ir::function f = beside("");
  const auto in_lanes = [](schedule& s, loop_rv l) { s.vectorize(l); };
  const auto in_parallel = [](schedule& s, loop_rv l) { s.parallel(l); };
  const auto on_threads = [](schedule& s, loop_rv l) { s.bind(l, "threadIdx.x"); };
  for (const std::function<void(schedule&, loop_rv)> run : {+in_lanes, +in_parallel, +on_threads}) {
    schedule s(f);
    run(s, s.get_loops(s.block("E"))[0]);
    check_meaning(s, f);
  }

  const ir::function shared = beside(R"(    for i in range(8):
        with T.block("R"):
            vi = T.axis.spatial(8, i)
            T.reads(S[0], E[vi])
            T.writes(E[vi])
            E[vi] = E[vi] + S[0]
)");
  schedule s(shared);
  const loop_rv i = s.get_loops(s.block("E"))[0];
  check_refusal(s, "vectorize", 1, [&] { in_lanes(s, i); });
  check_refusal(s, "parallel", 1, [&] { in_parallel(s, i); });
  check_refusal(s, "bind", 1, [&] { on_threads(s, i); });
}

TEST_CASE("private_results: what is believed of one result is not believed of another") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((1,), "int32")
    for i in T.parallel(4):
        with T.block("both"):
            vi = T.axis.spatial(4, i)
            C[T.min(vi * 3, 7)] = A[vi]
            S[0] = A[vi] * 2
        with T.block("D"):
            vi = T.axis.spatial(4, i)
            D[vi] = S[0] - vi
)");
  schedule s(f);
  const block_rv both = s.block("both"), d = s.block("D");
  check_refusal(s, "cache_write", 0, [&] { s.cache_write(both, 1, "global", {d}); });
  s.split<2>(s.get_loops(both)[0], {2, 2});
  check_meaning(s, f);
}

TEST_CASE("private_results: places that follow no sum of digits are run through") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3, 2), "int32"), E: T.Buffer((3, 2), "int32")):
    S = T.alloc_buffer((4,), "int32")
    for i in T.parallel(3):
        with T.block("O"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi, 0:2], S[vi:vi + 2])
            T.writes(E[vi, 0:2], S[vi:vi + 2])
            for j in range(2):
                with T.block("S"):
                    vj = T.axis.spatial(2, j)
                    S[vi + vj] = A[vi, vj] * 2
            for j in range(2):
                with T.block("E"):
                    vj = T.axis.spatial(2, j)
                    E[vi, vj] = S[vi + vj] - vi
)");
  schedule s(f);
  const block_rv b = s.block("S");
  check_refusal(s, "transform_layout", 0,
                [&] { s.transform_layout(b, written_buffer(0), "lambda i: (i // 3, i % 3)", 0); });
  s.transform_layout(b, written_buffer(0), "lambda i: (i % 2, i // 2)");  // no padding outside
  check_meaning(s, f);

  const ir::function apart = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((3, 2), "int32"), E: T.Buffer((6,), "int32")):
    S = T.alloc_buffer((6,), "int32")
    for i in range(3):
        with T.block("O"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi, 0:2])
            T.writes(S[vi * 2:vi * 2 + 2])
            for j in range(2):
                with T.block("S"):
                    vj = T.axis.spatial(2, j)
                    S[vi * 2 + vj] = A[vi, vj] * 2
    for i in range(6):
        with T.block("E"):
            vi = T.axis.spatial(6, i)
            E[vi] = S[vi] - vi
)");
  schedule t(apart);
  t.transform_layout(t.block("S"), written_buffer(0), "lambda i: (i // 4, i % 4)", 0);
  t.parallel(t.get_loops(t.block("O"))[0]);
  check_meaning(t, apart);
}

TEST_CASE(
    "private_results: loaded places of what each iteration had are not believed to be apart") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 4), "int32"), I: T.Buffer((4,), "int32"), E: T.Buffer((4, 4), "int32")):
    S = T.alloc_buffer((4,), "int32")
    B = T.alloc_buffer((4, 4), "int32")
    for i in range(4):
        with T.block("S"):
            vi = T.axis.spatial(4, i)
            S[vi] = I[vi]
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 3
    for i in T.parallel(4):
        for j in range(4):
            with T.block("E"):
                vi = T.axis.spatial(4, i)
                vj = T.axis.spatial(4, j)
                vk = T.axis.opaque(4, S[i])
                T.reads(B[vk, vj])
                T.writes(E[vi, vj])
                E[vi, vj] = B[vk, vj] + 1
)");
  schedule s(f);
  const block_rv e = s.block("E");
  const block_rv copy = s.read_at(s.get_loops(e)[0], e, 0, "global");
  check_refusal(s, "transform_layout", 0, [&] {
    s.transform_layout(copy, written_buffer(0), "lambda i, j: (i // 3, i % 3, j)", 0);
  });
  s.transform_layout(copy, written_buffer(0), "lambda i, j: (i // 2, i % 2, j)");
  check_schedule(s, f);
}

TEST_CASE(
    "private_results: what scatters for an iteration alone is not believed to do so for all") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), I: T.Buffer((8,), "int32"), E: T.Buffer((8,), "int32")):
    S = T.alloc_buffer((8,), "int32")
    for i in T.parallel(4):
        for j in range(2):
            with T.block("S"):
                v = T.axis.spatial(8, i * 2 + j)
                T.reads(A[v], I[v])
                T.writes(S[0:8])
                S[I[v]] = A[v]
        for j in range(2):
            with T.block("E"):
                v = T.axis.spatial(8, i * 2 + j)
                T.reads(S[0:8], I[v])
                T.writes(E[v])
                E[v] = S[I[v]]
)");
  schedule s(f);
  const block_rv b = s.block("S");
  check_refusal(s, "transform_layout", 0,
                [&] { s.transform_layout(b, written_buffer(0), "lambda i: (i // 3, i % 3)", 0); });
  s.transform_layout(b, written_buffer(0), "lambda i: (i // 2, i % 2)");  // still for itself
  check_schedule(s, f);
}

TEST_CASE("private_results: copies do not read what other iterations write") {
  // below threads read_at copies what all of them read, and nobody waits where memory is global
  const ir::function f = ir::parse(R"(@T.prim_func
def main(C: T.Buffer((4, 3), "int32")):
    L = T.alloc_buffer((4, 3), "int32", scope="local")
    for i in range(4):
        for j in range(3):
            with T.block("L"):
                vi, vj = T.axis.remap("SS", [i, j])
                L[vi, vj] = C[vi, vj] * 2
        for j in range(3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = L[vi, 2 - vj]
)");
  schedule s(f);
  const block_rv b = s.block("L");
  const std::vector<loop_rv> around = s.get_loops(b);
  s.bind(around[0], "threadIdx.x");
  check_refusal(s, "read_at", 0, [&] { s.read_at(around[1], b, 0, "global"); });
  s.read_at(around[1], b, 0, "local");
  check_schedule(s, f);
}

TEST_CASE("private_results: a guard may leave one of the iterations that run at once") {
  const auto program = [](std::string_view guard) {
    return program_of(R"(@T.prim_func
def main(A: T.Buffer((2, 30), "int32"), B: T.Buffer((2,), "int32")):
    for o in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for k in range(30):
                with T.block("B"):
                    v = T.axis.spatial(2, o)
                    vk = T.axis.reduce(30, k)
                    T.where(<guard>)
                    T.reads(A[v, vk])
                    T.writes(B[v])
                    with T.init():
                        B[v] = 0
                    B[v] = B[v] + A[v, vk]
)",
                      {{"<guard>", guard}});
  };
  for (const char* first : {"t < 1", "t * 3 + o < 3"}) {
    const ir::function f = program(first);
    schedule s(f);
    const block_rv b = s.block("B");
    s.decompose_reduction(b, s.get_loops(b)[2]);
    check_meaning(s, f);
  }
  for (const char* more : {"t < 2", "o + t < 2"}) {
    schedule s(program(more));
    const block_rv b = s.block("B");
    const loop_rv k = s.get_loops(b)[2];
    check_refusal(s, "decompose_reduction", 0, [&] { s.decompose_reduction(b, k); });
  }
}

TEST_CASE(
    "private_results: threads with shared memory each for itself find there what they wrote") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 2), "int32"), E: T.Buffer((4, 2), "int32")):
    S = T.alloc_buffer((4, 2), "int32", scope="shared")
    U = T.alloc_buffer((4, 2), "int32", scope="shared")
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for j in range(2):
            with T.block("S"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = A[vi, vj]
        for j in range(2):
            with T.block("U"):
                vi, vj = T.axis.remap("SS", [i, j])
                U[vi, vj] = S[vi, vj] + 1
        for j in range(2):
            with T.block("E"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = U[vi, vj] * 2
)");
  schedule s(f);
  const block_rv u = s.block("U");
  const loop_rv j = s.get_loops(s.block("E"))[1];
  // of U, which the threads share, each would make what all of them read; of S it has its own row
  check_refusal(s, "compute_at", 0, [&] { s.compute_at(u, j); });
  s.set_scope(u, 0, "local");
  s.compute_at(u, j);
  check_schedule(s, f);
}

TEST_CASE("private_results: what nobody could tell apart before may not certainly meet now") {
  // the bindings of C are no sums of digits: that its iterations write different elements is believed
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in T.parallel(6):
        with T.block("B"):
            vi = T.axis.spatial(6, 5 - i)
            B[vi] = A[vi] * 2
    for o in T.parallel(3):
        for s in range(2):
            with T.block("C"):
                vi = T.axis.spatial(6, o + s * (5 - o * 2))
                C[vi] = B[vi] + 1
)");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  s.compute_at(b, s.get_loops(c)[0]);
  check_schedule(s, f);
  const loop_rv inner = s.get_loops(b)[1];
  // each iteration of o would write all of C
  check_refusal(s, "reverse_compute_at", 0, [&] { s.reverse_compute_at(c, inner); });
}

TEST_CASE("private_results: each thread may fill a shared tile as a whole") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), U: T.Buffer((4, 4), "int32")):
    for i in T.thread_binding(4, thread="vthread.x"):
        for j in T.thread_binding(4, thread="threadIdx.x"):
            for k in range(4):
                with T.block("U"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                    with T.init():
                        U[vi, vj] = 0
                    U[vi, vj] = U[vi, vj] + A[(vi + vk) // 2, (vj + vk) // 2]
)");
  for (const std::size_t around : {1u, 2u}) {
    schedule s(f);
    const block_rv u = s.block("U");
    const block_rv tile = s.cache_read(u, 0, "shared");
    s.compute_at(tile, s.get_loops(u)[around]);
    check_schedule(s, f);
  }
}
