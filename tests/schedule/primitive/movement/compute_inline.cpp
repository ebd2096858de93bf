#include <functional>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/schedule/primitive/movement/compute_inline.hpp>

#include "../../script_schedule.hpp"
#include "../../stages.hpp"

using namespace tilewright;
using stages::indices;
using stages::program;
using stages::reading;

namespace {

std::size_t blocks(schedule& s) { return s.get_child_blocks(s.block("root")).size(); }

}  // namespace

TEST_CASE("compute_inline: chain, epilogue and padding") {
  {
    const ir::function f = stages::matmul_bias_relu(6, 5, 4);
    schedule s(f);
    s.compute_inline(s.block("E"));
    CHECK(blocks(s) == 2);
    check_meaning(s, f);
  }
  {
    const ir::function f = stages::conv2d(6, 7, 2, 3, 3, 1, 1);
    schedule s(f);
    s.compute_inline(s.block("X_pad"));
    CHECK(blocks(s) == 1);
    CHECK(s.get(s.block("root")).block->alloc_buffers.empty());
    check_meaning(s, f);
  }
}

TEST_CASE("compute_inline: any pattern of reads") {
  const std::vector<std::function<ir::expr(const ir::expr&)>> patterns{
      [](const ir::expr& i) { return ir::floordiv(i, 2); },
      [](const ir::expr& i) { return 11 - i; },
      [](const ir::expr& i) { return ir::floormod(i * 5, 12); }};
  for (const auto& index : patterns) {
    const ir::function f = reading(12, 12, index);
    schedule s(f);
    s.compute_inline(s.block("B"));
    check_meaning(s, f);
  }
}

TEST_CASE("compute_inline: a store with affine indices") {
  program p;
  const ir::buffer a = p.input("A", {4, 3}), b = p.temp("B", {12}), c = p.output("C", {12});
  p.map(
      b, {{"i", 4}, {"j", 3}}, [&](const indices& v) { return ir::load(a, v); },
      [](const indices& v) { return indices{v[0] * 3 + v[1]}; });
  p.map(c, {{"i", 12}}, [&](const indices& v) { return ir::load(b, {11 - v[0]}); });
  const ir::function f = p.finish();
  schedule s(f);
  s.compute_inline(s.block("B"));
  check_meaning(s, f);
}

TEST_CASE("compute_inline: a block without consumers is removed") {
  program p;
  const ir::buffer a = p.input("A", {4}), dead = p.temp("dead", {4}), b = p.output("B", {4});
  p.map(dead, {{"i", 4}}, [&](const indices& v) { return ir::load(a, v); });
  p.map(b, {{"i", 4}}, [&](const indices& v) { return ir::load(a, v); });
  const ir::function f = p.finish();
  schedule s(f);
  s.compute_inline(s.block("dead"));
  CHECK(blocks(s) == 1);
  check_meaning(s, f);
}

TEST_CASE("compute_inline: the guard of a reader loads too") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2.0
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(B[i] < 10.0)
            C[vi] = B[vi] + 1.0
)");
  schedule s(f);
  s.compute_inline(s.block("B"));
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.where(A[i] * 2.0 < 10.0)
            C[vi] = A[vi] * 2.0 + 1.0
)");
}

TEST_CASE("compute_inline: loads that a reader does not declare") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(S: T.Buffer((4,), "int32"), X: T.Buffer((4, 8), "int32"), Y: T.Buffer((4,), "int32")):
    B = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = S[vi]
    for i, j in T.grid(4, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(X[vi, vj])
            T.writes(Y[vi])
            with T.init():
                Y[vi] = B[vi]
            Y[vi] = Y[vi] + X[vi, vj]
)");
  schedule s(f);
  s.compute_inline(s.block("B"));
  check_program(s, R"(
@T.prim_func
def main(S: T.Buffer((4,), "int32"), X: T.Buffer((4, 8), "int32"), Y: T.Buffer((4,), "int32")):
    for i, j in T.grid(4, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.reads(X[vi, vj])
            T.writes(Y[vi])
            with T.init():
                Y[vi] = S[vi]
            Y[vi] = Y[vi] + X[vi, vj]
)");
}

TEST_CASE("compute_inline: index tensors in the places of other buffers") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    I = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("I"):
            vi = T.axis.spatial(8, i)
            I[vi] = 7 - vi
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[I[vi]])
            T.writes(C[I[vi]])
            C[I[vi]] = A[I[vi]]
)"));
  s.compute_inline(s.block("I"));
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(A[7 - vi])
            T.writes(C[7 - vi])
            C[7 - vi] = A[7 - vi]
)");
}

TEST_CASE("compute_inline: the index that cache_index made for a copy") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(V: T.Buffer((4,), "int32"), C: T.Buffer((4, 4), "int32")):
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = V[(vi * 2 + (vj + 1) // 2) % 4]
)");
  schedule s(f);
  const std::vector<block_rv> made = s.cache_index(s.block("C"), "local");
  s.reindex(s.block("C"), read_buffer(0));
  s.compute_inline(made[0]);
  check_meaning(s, f);
}

TEST_CASE("compute_inline: what stands around blocks loads too") {
  const auto program = [](const std::string& type, const std::string& loop,
                          const std::string& value) {
    return schedule(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    Z = T.alloc_buffer((8,), "int32")
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[vi] = 7 - vi
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Z[vi]
    for i in range(8):
        for j in range()" + loop +
                              R"():
            with T.block("C"):
                vi = T.axis.)" +
                              type + "(8, " + value + R"()
                C[vi] = A[vi] + 1
)"));
  };
  {  // the value of an iteration variable
    schedule s = program("opaque", "1", "B[i]");
    const ir::function f = s.function();
    s.compute_inline(s.block("B"));
    check_meaning(s, f);
    s.compute_inline(s.block("Z"));
    CHECK(blocks(s) == 1);
    check_meaning(s, f);
  }
  {  // what it loads must be there, wherever in the buffer that is
    const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    Z = T.alloc_buffer((8,), "int32")
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("Z"):
            vi = T.axis.spatial(8, i)
            Z[vi] = 7 - vi
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Z[vi]
        with T.block("C"):
            vi = T.axis.opaque(8, B[i])
            C[vi] = A[vi] + 1
)");
    schedule s(f);
    const block_rv b = s.block("B");
    check_refusal(s, "compute_inline", 1, [&] { s.compute_inline(b); });
    s.compute_inline(s.block("Z"));
    s.compute_inline(b);
    check_meaning(s, f);
  }
  {  // the bound of a loop
    schedule s = program("spatial", "B[i]", "i");
    const block_rv b = s.block("B");
    check_refusal(s, "compute_inline", 6, [&] { s.compute_inline(b); });
  }
}

TEST_CASE("compute_inline: not where a reader takes the address of the buffer") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2.0
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(B[0:8])
            T.writes(C[0:8])
            T.evaluate(B.access_ptr("r", extent=8))
            C[vi] = B[vi] + 1.0
)"));
  const block_rv b = s.block("B");
  check_refusal(s, "compute_inline", 6, [&] { s.compute_inline(b); });
}

TEST_CASE("compute_inline: what sums over symbolic extents wrote is there") {
  schedule s(ir::parse(R"(
@T.prim_func
def main(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    A = T.match_buffer(x, (n, m))
    Y = T.match_buffer(y, (n, m))
    B = T.alloc_buffer((n,))
    C = T.alloc_buffer((n, m))
    for i, k in T.grid(n, m):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i, j in T.grid(n, m):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] - B[vi]
    for i, j in T.grid(n, m):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = C[vi, vj] * 2.0
)"));
  s.compute_inline(s.block("C"));
  CHECK(blocks(s) == 2);
}

TEST_CASE("compute_inline: refusals") {
  const ir::function f = stages::matmul_bias_relu(4, 4, 4);
  schedule s(f);
  const block_rv c = s.block("C"), d = s.block("D");
  check_refusal(s, "compute_inline", 2, [&] { s.compute_inline(c); });
  check_refusal(s, "compute_inline", 3, [&] { s.compute_inline(d); });

  program p;
  const ir::buffer a = p.input("A", {4}), t = p.temp("T", {8}), y = p.output("Y", {8});
  p.map(
      t, {{"i", 4}}, [&](const indices& v) { return ir::load(a, v); }, {}, "first");
  p.map(
      t, {{"i", 4}}, [&](const indices& v) { return ir::load(a, v); },
      [](const indices& v) { return indices{v[0] + 4}; }, "second");
  p.map(y, {{"i", 8}}, [&](const indices& v) { return ir::load(t, v); });
  schedule two(p.finish());
  const block_rv first = two.block("first");
  check_refusal(two, "compute_inline", 3, [&] { two.compute_inline(first); });

  // several instances store one element
  program q;
  const ir::buffer x = q.input("X", {4, 4}), u = q.temp("U", {7}), z = q.output("Z", {7});
  q.map(
      u, {{"i", 4}, {"j", 4}}, [&](const indices& v) { return ir::load(x, v); },
      [](const indices& v) { return indices{v[0] + v[1]}; });
  q.map(z, {{"i", 7}}, [&](const indices& v) { return ir::load(u, v); });
  schedule sum(q.finish());
  const block_rv u_rv = sum.block("U");
  check_refusal(sum, "compute_inline", 2, [&] { sum.compute_inline(u_rv); });
}

TEST_CASE("compute_inline: into a copy that threads make jointly, as long as they share memory") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[7 - vi] + 1
)");
  schedule s(f);
  const block_rv b = s.block("B"), c = s.block("C");
  const loop_rv i = s.get_loops(c)[0];
  s.bind(i, "threadIdx.x");
  s.read_at(i, c, 0, "shared");
  s.write_at(i, c, 0, "shared");
  s.compute_inline(b);  // each element is computed once
  check_schedule(s, f);
  s.compute_inline(c);
  check_schedule(s, f);
  // without the shared tile each thread would make the copy back alone
  schedule t(f);
  const block_rv d = t.block("C");
  t.bind(t.get_loops(d)[0], "threadIdx.x");
  t.write_at(t.get_loops(d)[0], d, 0, "shared");
  check_refusal(t, "compute_inline", 0, [&] { t.compute_inline(d); });
}

TEST_CASE("compute_inline: the domain of a block below a new one loads too") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((6, 4), "int32"), B: T.Buffer((6, 4), "int32")):
    M = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("M"):
            vi = T.axis.spatial(6, i)
            M[vi] = A[vi, 0] % 4
    for i in range(6):
        for j in range(M[i]):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = A[vi, vj] * 2
)");
  schedule s(f);
  s.blockize(s.get_loops(s.block("B"))[1]);
  s.compute_inline(s.block("M"));
  check_meaning(s, f);
}

TEST_CASE("compute_inline: into a copy that each iteration makes for itself") {
  const ir::function f = ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * 2
    for i, r in T.grid(6, 3):
        with T.block("C"):
            vi, vr = T.axis.remap("SR", [i, r])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + B[vi + vr]
)");
  schedule s(f);
  const block_rv c = s.block("C");
  s.read_at(s.get_loops(c)[0], c, 0, "local");
  s.compute_inline(s.block("B"));
  check_schedule(s, f);
}

TEST_CASE("compute_inline: a body that uses a loop") {
  schedule s(ir::parse(R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    X = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = A[vi] + i
    for j in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, j)
            D[vi] = X[vi]
)"));
  const block_rv x = s.block("X");
  check_refusal(s, "compute_inline", 4, [&] { s.compute_inline(x); });
}

TEST_CASE("compute_inline: memory of threads stays where they run") {
  const char* const text = R"(@T.prim_func
def main(A: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int32")):
    X_local = T.alloc_buffer((8,), "int32", scope="local")
    X = T.alloc_buffer((8,), "int32")
    for i in <loop>:
        with T.block("X_local"):
            vi = T.axis.spatial(8, i)
            X_local[vi] = A[vi] * 2
        with T.block("X"):
            vi = T.axis.spatial(8, i)
            X[vi] = X_local[vi]
    for j in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, j)
            D[vi] = X[vi] + 1
)";
  schedule bound(program_of(text, {{"<loop>", "T.thread_binding(8, thread=\"threadIdx.x\")"}}));
  const block_rv x = bound.block("X");
  check_refusal(bound, "compute_inline", 1, [&] { bound.compute_inline(x); });
  const ir::function f = program_of(text, {{"<loop>", "range(8)"}});
  schedule free(f);  // nothing says yet which threads will run it
  free.compute_inline(free.block("X"));
  check_schedule(free, f);
}
