// What one of several results of a block is to iterations that run at once, and what data or sums of digits say of it.
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "../script_schedule.hpp"

using namespace tilewright;

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
