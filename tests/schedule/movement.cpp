// Movement of whole pipelines: rows of a softmax, symbolic extents, tuples, nested scopes.
#include <tilewright/schedule/primitive/movement/compute_at.hpp>

#include <string>

#include "script_schedule.hpp"
#include "stages.hpp"

using namespace tilewright;
using stages::f32;
using stages::indices;
using stages::program;

namespace {

ir::function softmax(int m, int n) {
  program p;
  const ir::buffer x = p.input("X", {m, n}), y = p.output("Y", {m, n});
  const ir::buffer peak = p.temp("peak", {m}), e = p.temp("e", {m, n}),
                   total = p.temp("total", {m});
  p.peak(peak, {{"i", m}, {"j", n}}, 1, [&](const indices& v) { return ir::load(x, v); });
  p.map(e, {{"i", m}, {"j", n}},
        [&](const indices& v) { return ir::load(x, v) - ir::load(peak, {v[0]}); });
  p.sum(total, {{"i", m}, {"j", n}}, 1, [&](const indices& v) { return ir::load(e, v); });
  p.map(y, {{"i", m}, {"j", n}},
        [&](const indices& v) { return ir::load(e, v) + ir::load(total, {v[0]}); });
  return p.finish();
}

/// X counts down as the lines say; its inner loop takes no block that stores by what X holds.
void check_not_stored(const std::string& counting, const std::string& storing) {
  schedule s(program_of(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    <counting>
    for j in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, j)
            <storing>
)",
                        {{"<counting>", counting}, {"<storing>", storing}}));
  const block_rv d = s.block("D");
  const loop_rv inner = s.get_loops(s.block("X"))[1];
  check_refusal(s, "reverse_compute_at", 5, [&] { s.reverse_compute_at(d, inner); });
}

constexpr const char* unfinished = R"(
for i, k in T.grid(8, 8):
    with T.block("X"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            X[vi] = 7
        X[vi] = T.min(X[vi], 7 - vk))";

}  // namespace

TEST_CASE("movement: all stages of a softmax below one loop of rows, from either end") {
  const ir::function f = softmax(13, 7);
  {
    schedule s(f);
    const auto rows = s.split(s.get_loops(s.block("Y"))[0], std::vector<factor>{infer, 4});
    for (const char* name : {"total", "e", "peak"}) s.compute_at(s.block(name), rows[0]);
    CHECK(s.get_child_blocks(rows[0]).size() == 4);
    s.parallel(rows[0]);
    check_meaning(s, f);
  }
  {
    schedule s(f);
    const loop_rv row = s.get_loops(s.block("peak"))[0];
    for (const char* name : {"e", "total", "Y"}) s.reverse_compute_at(s.block(name), row);
    CHECK(s.get_child_blocks(row).size() == 4);
    s.parallel(row);
    check_meaning(s, f);
  }
  {
    schedule s(f);
    s.compute_inline(s.block("e"));
    const loop_rv row = s.get_loops(s.block("Y"))[0];
    s.compute_at(s.block("total"), row);
    s.compute_at(s.block("peak"), row);
    check_meaning(s, f);
  }
}

TEST_CASE("movement: symbolic extents") {
  const ir::var n = ir::make_var("n");
  program p;
  const ir::buffer a = p.input("A", {n}), b = p.temp("B", {n}), c = p.output("C", {n});
  p.map(b, {{"i", n}}, [&](const indices& v) { return ir::load(a, v) * f32(2); });
  p.map(c, {{"i", n}}, [&](const indices& v) { return ir::load(b, v) + f32(1); });
  const ir::function f = p.finish();
  for (const std::int64_t size : {1, 16, 37}) {
    schedule s(f);
    const block_rv b_rv = s.block("B"), c_rv = s.block("C");
    const auto parts = s.split(s.get_loops(c_rv)[0], std::vector<factor>{infer, 16});
    const block_rv copy = s.cache_read(c_rv, 0, "local");
    s.compute_at(copy, parts[0]);
    s.compute_at(b_rv, parts[0]);
    CHECK(s.get_loops(b_rv).size() == 2);
    check_meaning(s, f, {{"n", size}});

    schedule t(f);
    const auto outer = t.split(t.get_loops(t.block("B"))[0], std::vector<factor>{infer, 16});
    t.reverse_compute_at(t.block("C"), outer[0]);
    check_meaning(t, f, {{"n", size}});

    schedule u(f);
    u.cache_write(u.block("C"), 0, "local");
    u.compute_inline(u.block("B"));
    u.reverse_compute_inline(u.block("C_local"));
    check_meaning(u, f, {{"n", size}});
  }
}

TEST_CASE("movement: a block in the scope of another block") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 10), "float32"), C: T.Buffer((4, 10), "float32")):
    for row in range(4):
        with T.block("outer"):
            vrow = T.axis.spatial(4, row)
            T.reads(A[vrow, 0:10])
            T.writes(C[vrow, 0:10])
            B = T.alloc_buffer((4, 10), "float32")
            for j in range(10):
                with T.block("B"):
                    vi = T.axis.spatial(4, vrow)
                    vj = T.axis.spatial(10, j)
                    B[vi, vj] = A[vi, vj] + T.float32(1)
            for j in range(10):
                with T.block("C"):
                    vi = T.axis.spatial(4, vrow)
                    vj = T.axis.spatial(10, j)
                    C[vi, vj] = B[vi, vj] + T.float32(1)
)");
  schedule s(f);
  const block_rv c_rv = s.block("C"), b_rv = s.block("B");
  const auto parts = s.split(s.get_loops(c_rv)[0], std::vector<factor>{infer, 4});
  const loop_rv row_rv = s.get_loops(s.block("outer"))[0];
  check_refusal(s, "compute_at", 3, [&] { s.compute_at(b_rv, row_rv); });
  s.compute_at(b_rv, parts[0]);
  check_meaning(s, f);
  s.cache_read(b_rv, 0, "local");
  s.cache_write(c_rv, 0, "local");
  check_meaning(s, f);
  schedule t(f);
  t.compute_inline(t.block("B"));
  check_meaning(t, f);
}

TEST_CASE("compute_at, reverse_compute_at: triangles stay where they are") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 6), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6, 6), "int32")
    D = T.alloc_buffer((6,), "int32")
    for i in range(6):
        for j in range(i + 1):
            with T.block("B"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(6, j)
                B[vi, vj] = A[vi, vi - vj]
    for i in range(6):
        for j in range(i + 1):
            with T.block("D"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    D[vi] = 0
                D[vi] = D[vi] + B[vi, vj]
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = D[vi]
)");
  schedule s(f);
  const block_rv b = s.block("B"), d = s.block("D"), c = s.block("C");
  const loop_rv of_d = s.get_loops(d)[0], of_b = s.get_loops(b)[0], of_c = s.get_loops(c)[0];
  // below D's loop the whole row would be computed, with elements of A that do not exist
  check_refusal(s, "compute_at", 2, [&] { s.compute_at(b, of_d); });
  check_refusal(s, "compute_at", 2, [&] { s.compute_at(d, of_c); });
  check_refusal(s, "reverse_compute_at", 2, [&] { s.reverse_compute_at(d, of_b); });
  s.reverse_compute_at(c, of_d);
  check_meaning(s, f);
}

TEST_CASE("compute_at: what decides where a block runs, and whether") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), C: T.Buffer((6, 4), "int32"), D: T.Buffer((6,), "int32")):
    M = T.alloc_buffer((6,), "int32")
    B = T.alloc_buffer((6,), "int32")
    X = T.alloc_buffer((6, 4), "int32")
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            M[vi] = A[vi, 1] % 4
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            vm = T.axis.spatial(6, A[i, 0] % 6)
            T.reads(A[vm, 2])
            T.writes(B[vi])
            B[vi] = A[vm, 2]
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = B[vi]
    for i, j in T.grid(6, 4):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = A[vi, vj] + 1
    for i in range(6):
        for j in range(M[i]):
            with T.block("C"):
                vi = T.axis.spatial(6, i)
                vj = T.axis.spatial(4, j)
                T.reads(X[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = X[vi, vj] * 2
)");
  schedule s(f);
  const block_rv m = s.block("M"), b = s.block("B"), x = s.block("X"), c = s.block("C");
  const std::vector<loop_rv> loops = s.get_loops(c);
  const loop_rv of_d = s.get_loops(s.block("D"))[0];
  // the bound of the loop would be loaded before the block has run below it
  check_refusal(s, "compute_at", 6, [&] { s.compute_at(m, loops[1]); });
  // vm would run over all of its domain
  check_refusal(s, "compute_at", 2, [&] { s.compute_at(b, of_d); });
  // as much as M may hold is no extent, but the row is
  s.compute_at(x, loops[0]);
  check_meaning(s, f);
}

TEST_CASE("compute_at: where data says what is needed, it is there before") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] * 2
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            M[vi] = A[vi] % 6
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            vm = T.axis.spatial(6, M[i])
            T.reads(B[vm])
            T.writes(C[vi])
            C[vi] = B[vm]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const loop_rv i = s.get_loops(s.block("C"))[0];
  check_refusal(s, "compute_at", 8, [&] { s.compute_at(b, i, false, 0); });
}

TEST_CASE("movement: a sum stays with a block that sees parts of it") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), D: T.Buffer((4, 6), "int32")):
    X = T.alloc_buffer((4, 6), "int32")
    C = T.alloc_buffer((4,), "int32")
    for i, k in T.grid(4, 6):
        with T.block("X"):
            vi, vk = T.axis.remap("SS", [i, k])
            X[vi, vk] = A[vi, vk] * 3
    for i, k in T.grid(4, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + X[vi, vk]
        with T.block("D"):
            vi, vk = T.axis.remap("SS", [i, k])
            D[vi, vk] = C[vi]
)");
  schedule s(f);
  const block_rv x = s.block("X"), c = s.block("C");
  const loop_rv row = s.get_loops(x)[0], k = s.get_loops(c)[1];
  check_refusal(s, "reverse_compute_at", 1, [&] { s.reverse_compute_at(c, row); });
  check_refusal(s, "rfactor", 1, [&] { s.rfactor(k, 0); });
  s.compute_at(x, s.get_loops(c)[0]);
  check_meaning(s, f);
}

TEST_CASE("compute_at: an init that uses a loop") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), D: T.Buffer((8,), "int32")):
    C = T.alloc_buffer((8,), "int32")
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = i
            C[vi] = C[vi] + A[vi, vk]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi]
)"));
  const block_rv c = s.block("C");
  const loop_rv i = s.get_loops(s.block("D"))[0];
  check_refusal(s, "compute_at", 2, [&] { s.compute_at(c, i); });
}

TEST_CASE("compute_at: a reduction that is a scan over its results") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), D: T.Buffer((8,), "int32")):
    C = T.alloc_buffer((9,), "int32")
    with T.block("Z"):
        C[0] = 3
    for i, k in T.grid(8, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi + 1] = C[vi]
            C[vi + 1] = C[vi + 1] + A[vi, vk]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = C[vi + 1]
)"));
  const block_rv c = s.block("C");
  const loop_rv i = s.get_loops(s.block("D"))[0];
  check_refusal(s, "compute_at", 2, [&] { s.compute_at(c, i); });
}

TEST_CASE("compute_at: parallel iterations would write into what others fill") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((16,), "int32"), D: T.Buffer((8, 16), "int32")):
    X = T.alloc_buffer((16,), "int32")
    for j in range(8):
        with T.block("Z"):
            vj = T.axis.spatial(8, j)
            X[vj] = 5
    for j in range(8):
        with T.block("W"):
            vj = T.axis.spatial(8, j)
            X[vj + 8] = A[vj]
    for i in T.parallel(8):
        for j in range(16):
            with T.block("R"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = X[vj]
)"));
  const block_rv w = s.block("W");
  const loop_rv i = s.get_loops(s.block("R"))[0];
  check_refusal(s, "compute_at", 0, [&] { s.compute_at(w, i); });
}

TEST_CASE("compute_at: a guard keeps the index that says what is needed") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), I: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            T.where(i < 7)
            T.reads(X[I[vi + 1]], I[vi + 1])
            T.writes(D[vi])
            D[vi] = T.if_then_else(0 <= I[vi + 1] and I[vi + 1] < 8, X[I[vi + 1]], 0)
)");
  schedule s(f);
  s.compute_at(s.block("X"), s.get_loops(s.block("D"))[0]);
  check_meaning(s, f);
}

TEST_CASE("reverse_compute_at: a loop that has no iteration") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32"), E: T.Buffer((8,), "int32")):
    N = T.alloc_buffer((1,), "int32")
    with T.block("N"):
        N[0] = 0
    for i in range(N[0]):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            D[vi] = A[vi]
    for i in range(8):
        with T.block("E"):
            vi = T.axis.spatial(8, i)
            E[vi] = A[vi]
)"));
  const block_rv e = s.block("E");
  const loop_rv i = s.get_loops(s.block("C"))[0];
  check_refusal(s, "reverse_compute_at", 5, [&] { s.reverse_compute_at(e, i); });
}

TEST_CASE("reverse_compute_at: unfinished values say where to store") {
  check_not_stored(unfinished, R"(
T.reads(X[vi])
T.writes(D[0:8])
D[X[vi]] = 1)");
}

TEST_CASE("reverse_compute_at: unfinished values decide whether to store") {
  check_not_stored(unfinished, R"(
if X[vi] > 3:
    D[vi] = 1)");
}

TEST_CASE("reverse_compute_at: overwritten values decide whether to store") {
  check_not_stored(R"(
for r, i in T.grid(8, 8):
    with T.block("X"):
        vr, vi = T.axis.remap("SS", [r, i])
        X[vi] = 7 - vr)",
                   R"(
if X[vi] > 3:
    D[vi] = 1)");
}
